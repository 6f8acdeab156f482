# set: memory.staging=per_port
program (1,1)
fill addr=0x8100000000 n=1 last

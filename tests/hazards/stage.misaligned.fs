# set: memory.staging=per_port
program (1,1)
fill addr=0x8000000020 n=1 last

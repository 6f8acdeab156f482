# set: memory.staging=per_port
program (1,1)
fill addr=0x8000200000 n=1 last

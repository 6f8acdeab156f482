# set: memory.size=1048576
program (1,1)
fill addr=0x100000 n=1 last

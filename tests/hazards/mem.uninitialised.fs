program (1,1)
fill addr=0x80000 n=1 last

program (1,1)
fill addr=0x4 n=1 last

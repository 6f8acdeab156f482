program (1,1)
fill addr=0x1000000000 n=1 last

program (1,1)
fill addr=0x8000000000 n=1 last

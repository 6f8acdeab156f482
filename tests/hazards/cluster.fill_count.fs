program (1,1)
fill addr=0x0 n=256 last

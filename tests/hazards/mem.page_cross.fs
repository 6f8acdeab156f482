program (1,1)
fill addr=0xfa0 n=1 last

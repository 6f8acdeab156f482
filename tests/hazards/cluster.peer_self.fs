program (1,1)
fill addr=0x0 n=4 peers=(1,1) last

# also: cluster.response_held
program (1,2)
fill addr=0x8000 n=60 sel=b
fill addr=0x0 n=8 peers=(1,1) last
program (1,1)
fill addr=0x0 n=8 peers=(1,2) last

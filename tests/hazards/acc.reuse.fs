# set: cluster.pacing=false
program (1,1)
fill addr=0x0 n=4
fill addr=0x1000 n=4 sel=b
gemm gm=1 gn=1 nk=4 last

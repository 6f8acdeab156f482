program (1,1)
fill addr=0x0 n=2
fill addr=0x1000 n=2 sel=b
gemm gm=2 gn=2 nk=1
drain n=4 dnode dst=(1,1) dbuf=2 last

program (1,1)
fill addr=0x0 n=1
fill addr=0x1000 n=1 sel=b
gemm gm=1 gn=1 nk=1 emit addr=0x20000
drain fuse addr=0x20000 n=1 last

program (1,1)
fill addr=0x0 n=4
fill addr=0x1000 n=4 sel=b
gemm gm=2 gn=2 nk=2 emit addr=0x20000
drain fuse addr=0x30000 n=4 last

program (1,1)
fill addr=0x0 n=16
fill addr=0x1000 n=16 sel=b
gemm gm=8 gn=8 nk=2 emit addr=0x20000
gemm gm=8 gn=8 nk=2 emit addr=0x30000
drain fuse addr=0x30000 n=64 last

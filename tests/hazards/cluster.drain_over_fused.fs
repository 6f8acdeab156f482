program (1,1)
fill addr=0x0 n=16
fill addr=0x1000 n=16 sel=b
gemm gm=8 gn=8 nk=2 emit addr=0x20000
drain addr=0x20000 n=64 last

program (1,1)
fill addr=0x0 n=64
fill addr=0x2000 n=64 sel=b
gemm gm=16 gn=16 nk=4
fill addr=0x0 n=64 last

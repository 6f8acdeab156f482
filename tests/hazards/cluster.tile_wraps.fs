program (1,1)
fill addr=0x0 n=32
fill addr=0x1000 n=17 sel=b
gemm gm=32 gn=17 nk=1 last

program (1,1)
fill addr=0x0 n=2 eoff=254
fill addr=0x100 n=2
fill addr=0x1000 n=4 sel=b
gemm gm=2 gn=2 nk=2 aoff=254 last

program (1,1)
fill addr=0x0 n=32
fill addr=0x1000 n=16 sel=b
gemm gm=32 gn=16 nk=1
drain addr=0x20000 n=513 last

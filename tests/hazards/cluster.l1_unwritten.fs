program (1,1)
gemm gm=1 gn=1 nk=1 last

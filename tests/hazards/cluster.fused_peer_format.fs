program (2,1)
fill addr=0x0 n=2
fill addr=0x1000 n=2 sel=b
gemm gm=2 gn=2 nk=1 last
program (1,1)
fill addr=0x0 n=4
fill addr=0x1000 n=4 sel=b
gemm gm=2 gn=2 nk=2 emit dnode dst=(2,1) dbuf=2
drain fuse n=4 dnode dst=(2,1) dbuf=2 last

program (1,1)
fill addr=0x0 n=9 eoff=100
fill addr=0x0 n=64
fill addr=0x2000 n=64 sel=b
gemm gm=16 gn=16 nk=4
drain n=256 dnode dst=(1,2) dbuf=2 last
program (1,2)
fill addr=0x0 n=64
fill addr=0x2000 n=64 sel=b
gemm gm=16 gn=16 nk=4
drain n=256 dnode dst=(1,1) dbuf=2 last

program (2,1)
fill addr=0x0 n=8
fill addr=0x1000 n=8 sel=b
gemm gm=8 gn=8 nk=1 last
program (1,2)
fill addr=0x0 n=8
fill addr=0x1000 n=8 sel=b
gemm gm=8 gn=8 nk=1
drain n=64 dnode dst=(2,1) dbuf=2 last
program (2,1)
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
fill addr=0x0 n=60 last

# set: memory.write_slots=1
program (1,1)
fill addr=0x0 n=16
fill addr=0x1000 n=16 sel=b
gemm gm=16 gn=16 nk=1
drain addr=0x20000 n=256 last
program (2,1)
fill addr=0x0 n=16
fill addr=0x1000 n=16 sel=b
gemm gm=16 gn=16 nk=1
drain addr=0x30000 n=256 last

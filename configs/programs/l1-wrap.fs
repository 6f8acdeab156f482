# The second chunk of B is placed across the end of its bank: entries 252..255 and then 0..3, where the first chunk
# lies that has not been swept yet.
program (1,1)
fill addr=0x10000 n=8 sel=b
fill addr=0x10400 n=8 sel=b eoff=252
fill addr=0x0 n=8
gemm gm=4 gn=4 nk=2
fill addr=0x400 n=8 eoff=16
gemm gm=4 gn=4 nk=2 aoff=16 boff=252 acc
drain addr=0x20000 n=16 last

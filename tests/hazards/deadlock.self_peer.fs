# also: cluster.self_peer
program (1,1)
fill addr=0x0 n=16
fill addr=0x1000 n=16 sel=b
gemm gm=16 gn=16 nk=1
drain n=128 dnode dst=(1,1) dbuf=2 last

# A cluster sends its resident tile to itself: the receive side takes no sub-tile before the drain has nothing
# outstanding, and the drain waits for its flits to be taken.
program (1,1)
fill addr=0x0 n=16
fill addr=0x10000 n=16 sel=b
gemm gm=16 gn=16 nk=1
drain n=256 dnode dst=(1,1) dbuf=2 last

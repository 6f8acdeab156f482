# Two clusters make the same tile T of 16 sub-tiles; one sends its own to the other, which adds it: exactly 2 T.
program (1,1)
fill addr=0x0 n=8
fill addr=0x10000 n=8 sel=b
gemm gm=4 gn=4 nk=2 last
write SIG_DONE=0
credit 4
kick
program (1,2)
fill addr=0x0 n=8
fill addr=0x10000 n=8 sel=b
gemm gm=4 gn=4 nk=2 last
kick
wait signals=6
write SIG_DONE=0
program (1,2)
drain n=16 dnode dst=(1,1) dbuf=2 dflags=1 dack=(0,1) last
kick
wait signals=5 # the completion, and an acknowledgement of every burst of four sub-tiles
write SIG_DONE=0
program (1,1)
drain addr=0x20000 n=16 last
kick
wait signals=1
done

# Both clusters need the same A and fetch it once, for two. Nothing in a response says which FILL asked for it: it
# reaches the second cluster before that one's FILL of B, and lands there.
program (1,1)
fill addr=0x0 n=8 peers=(1,2)
fill addr=0x10000 n=64 sel=b
gemm gm=2 gn=16 nk=4
drain addr=0x20000 n=32 last
write SIG_DONE=0
credit 9
kick
program (1,2)
fill addr=0x12000 n=64 sel=b
fill addr=0x0 n=8 peers=(1,1)
gemm gm=2 gn=16 nk=4
drain addr=0x20400 n=32 last
kick
wait signals=8
done

# Both clusters need the same A and fetch it once, for two. Nothing in a response says which FILL asked for it: it
# arrives while the second cluster still fills B, and lands there.
program (1,2)
fill addr=0x11000 n=32 sel=b
fill addr=0x0 n=32 peers=(1,1)
gemm gm=8 gn=8 nk=4
drain addr=0x20800 n=64 last
write SIG_DONE=0
credit 9
kick
program (1,1)
fill addr=0x0 n=32 peers=(1,2)
fill addr=0x10000 n=32 sel=b
gemm gm=8 gn=8 nk=4
drain addr=0x20000 n=64 last
kick
wait signals=8
done

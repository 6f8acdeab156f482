# One credit for two programs: the last instruction of a program returns none, so the second one is never sent.
program (1,1)
fill addr=0x0 n=4
fill addr=0x10000 n=4 sel=b
gemm gm=2 gn=2 nk=2
drain addr=0x20000 n=4 last
write SIG_DONE=0
credit 1
kick
program (1,2)
fill addr=0x0 n=4
fill addr=0x10200 n=4 sel=b
gemm gm=2 gn=2 nk=2
drain addr=0x20080 n=4 last
kick
wait signals=8
done

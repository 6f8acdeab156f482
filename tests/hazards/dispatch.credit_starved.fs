program (1,1)
nop
nop
nop
nop last
write SIG_DONE=0
credit 1
kick
program (2,1)
nop
nop
nop
nop last
kick
wait signals=8
done

program (1,1)
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop last
write SIG_DONE=0
credit 30
kick
write PROG_DST=0x21
wait signals=10
done

# Credit is seeded once a kick instead of once a round: three kicks of 32 instructions meet a queue of 32. The queue
# fills, the link backs up, and the words that the FILL waits for stand behind instructions.
program (1,1)
fill addr=0x10000 n=200 sel=b
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
write SIG_DONE=0
credit 32
kick
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
credit 32
kick
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
nop
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
credit 32
kick
wait signals=96
done

program (3,1)
nop last
write SIG_DONE=0
credit 30
kick
done

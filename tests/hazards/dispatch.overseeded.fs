program (1,1)
nop last
write SIG_DONE=0
credit 1000
kick
wait signals=1
done

program (1,1)
signal code=64 last
write SIG_DONE=0
credit 30
kick
done

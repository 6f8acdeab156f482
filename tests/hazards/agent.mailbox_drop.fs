program (1,1)
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0
ctrl index=0 last
write SIG_DONE=0
credit 30
kick
done

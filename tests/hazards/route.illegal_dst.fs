# also: route.sink
program (3,3)
nop last
write SIG_DONE=0
credit 30
kick
done

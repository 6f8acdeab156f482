# also: flit.unknown_type
program (1,1)
raw 0000000000000000000000000000000000000000000000000000000000000000 type=9 last
write SIG_DONE=0
credit 30
kick
done

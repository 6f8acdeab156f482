# also: dispatch.no_last
program (0,1)
wrreq addr=0x20000 len=1
raw 0000000000000000000000000000000000000000000000000000000000000000 type=MEM_WR_DATA
write SIG_DONE=0
credit 30
kick
done

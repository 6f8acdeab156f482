# set: memory.latency=10000
program (0,1)
rdreq addr=0x0
wrreq addr=0x20000 len=0
raw 0000000000000000000000000000000000000000000000000000000000000000 type=MEM_WR_DATA last
write SIG_DONE=0
credit 30
kick
done

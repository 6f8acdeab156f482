# also: cluster.response_held deadlock.receive_queue
write SIG_DONE=0
credit 30
program (1,1)
fill addr=0x0 n=16 peers=(1,2)
fill addr=0x1000 n=16 sel=b
gemm gm=16 gn=16 nk=1
drain n=256 dnode dst=(1,2) dbuf=2 last
kick
wait signals=3
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
poll CTRL value=0
program (1,1)
ctrl index=0
ctrl index=1 last
kick
done

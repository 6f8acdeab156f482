# also: cluster.drain_type
write SIG_DONE=0
credit 30
program (2,1)
data buf_id=0 offset=0 len=3
raw 0000000000000000000000000000000000000000000000000000000000000000 type=CU_DATA
raw 0000000000000000000000000000000000000000000000000000000000000000 type=CU_DATA
nop last
kick
program (1,1)
fill addr=0x0 n=2
fill addr=0x1000 n=2 sel=b
gemm gm=1 gn=1 nk=1
drain n=1 dnode dst=(2,1) dbuf=0 last
kick
done

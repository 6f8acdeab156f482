# A sweep over four sub-tiles comes back to each after four cycles, one too early: without pacing it adds to what the
# accumulator held before.
program (1,1)
fill addr=0x0 n=16
fill addr=0x10000 n=16 sel=b
gemm gm=2 gn=2 nk=8
drain addr=0x20000 n=4 last

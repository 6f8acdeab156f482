program (1,1)
nop rsvd=1 last

program (1,1)
nop

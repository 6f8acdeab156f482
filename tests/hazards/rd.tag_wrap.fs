# also: cluster.fill_wraps
program (1,1)
fill addr=0x0 n=4 eoff=254 last

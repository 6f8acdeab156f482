program (1,1)
drain addr=0x20000 n=1 last

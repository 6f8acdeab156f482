# also: flit.unknown_type
write TX_FLIT[4]=0x11226008
write TX_KICK=1
done

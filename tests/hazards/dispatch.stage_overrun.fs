# set: agent.staging_flits=128
program (1,1) slot=127
nop
stage slot=0
nop last
write SIG_DONE=0
credit 30
write PROG_DST=0x11
write PROG_LEN=2
write PROG_BASE=127
write PROG_KICK=1
wait signals=2
done

write PROG_LEN=0
write PROG_KICK=1
done

# Every group of sixteen elements turned left by one
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel rotate.once
    vseti s8, 1
.end
.kernel rotate
    vshuf v0, v1, s8
.end

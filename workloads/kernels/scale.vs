# x / 8
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel scale.once
    vseti s8, 0.125
.end
.kernel scale
    vmul v0, v1, s8
.end

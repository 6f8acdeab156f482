# x / (1 + e^-x), the sigmoid as one chain
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel silu-d4.once
    vseti s8, -1.4426950408889634      # -log2 e
.end
.kernel silu-d4
    vsetmode d4
    vmul v4, v1, s8
    + vexp2 v4, c
    + vadd v4, c, k1
    + vinv v4, c
    vsetmode flat
    vmul v0, v4, v1
.end

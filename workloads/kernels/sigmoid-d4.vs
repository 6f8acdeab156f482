# 1 / (1 + e^-x), the four steps as one chain
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel sigmoid-d4.once
    vseti s8, -1.4426950408889634      # -log2 e
    vsetmode d4
.end
.kernel sigmoid-d4
    vmul v0, v1, s8
    + vexp2 v0, c
    + vadd v0, c, k1
    + vinv v0, c
.end

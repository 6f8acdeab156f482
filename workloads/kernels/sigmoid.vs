# 1 / (1 + e^-x)
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel sigmoid.once
    vseti s8, -1.4426950408889634      # -log2 e
.end
.kernel sigmoid
    vmul v4, v1, s8
    vexp2 v4, v4
    vadd v4, v4, k1
    vinv v0, v4
.end

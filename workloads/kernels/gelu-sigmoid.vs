# x / (1 + e^(-1.702 x)), the sigmoid form of GELU
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel gelu-sigmoid.once
    vseti s8, -2.4554669595930157      # -1.702 log2 e
.end
.kernel gelu-sigmoid
    vmul v4, v1, s8
    vexp2 v4, v4
    vadd v4, v4, k1
    vinv v4, v4
    vmul v0, v4, v1
.end

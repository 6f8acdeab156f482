# gelu(gate) up, sigmoid form
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel geglu.once
    vseti s8, -2.4554669595930157      # -1.702 log2 e
.end
.kernel geglu
    vmul v4, v1, s8
    vexp2 v4, v4
    vadd v4, v4, k1
    vinv v4, v4
    vmul v4, v4, v1
    vmul v0, v4, v2
.end

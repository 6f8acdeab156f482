# silu(gate) up
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel swiglu.once
    vseti s8, -1.4426950408889634      # -log2 e
.end
.kernel swiglu
    vmul v4, v1, s8
    vexp2 v4, v4
    vadd v4, v4, k1
    vinv v4, v4
    vmul v4, v4, v1
    vmul v0, v4, v2
.end

# x w / sqrt(mean(x^2) + eps), by row, dividing by the row length as the shipped image does
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel rmsnorm-inv.once
    vseti s8, 0.00001                 # eps
    vbcast v8, s13
    vbcast v9, s8
.end
.kernel rmsnorm-inv
    vinv v4, v8
    vmul v4, v4, v1
    vmul v4, v4, v1
    vsetmode tree
    vred.sum s1, v4, v4
    vsetmode flat
    vbcast v5, s1
    vadd v5, v5, v9
    vrsqrt v5, v5
    vmul v0, v1, v5
    vmul v0, v0, v2
.end

# (x - mean) w / sqrt(variance + eps) + b, by row, dividing by the row length as the shipped image does
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel layernorm-inv.once
    vseti s8, 0.00001                 # eps
    vbcast v8, s13
    vbcast v9, s8
.end
.kernel layernorm-inv
    vsetmode tree
    vred.sum s1, v1, v1
    vsetmode flat
    vbcast v4, s1
    vinv v6, v8
    vmul v4, v4, v6
    vsub v4, v1, v4
    vinv v6, v8
    vmul v5, v4, v6
    vmul v5, v5, v4
    vsetmode tree
    vred.sum s1, v5, v5
    vsetmode flat
    vbcast v5, s1
    vadd v5, v5, v9
    vrsqrt v5, v5
    vmul v4, v4, v5
    vmul v4, v4, v2
    vadd v0, v4, v3
.end

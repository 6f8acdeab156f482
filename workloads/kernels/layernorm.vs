# (x - mean) w / sqrt(variance + eps) + b, by row, in two passes
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel layernorm.once
    vseti s8, 0.00001                 # eps
.end
.kernel layernorm
    vsetmode tree
    vred.sum s1, v1, v1
    vsetmode flat
    vbcast v4, s1
    vmul v4, v4, s14
    vsub v4, v1, v4
    vmul v5, v4, s14
    vmul v5, v5, v4
    vsetmode tree
    vred.sum s1, v5, v5
    vsetmode flat
    vbcast v5, s1
    vadd v5, v5, s8
    vrsqrt v5, v5
    vmul v4, v4, v5
    vfma v0, v4, v2, v3
.end

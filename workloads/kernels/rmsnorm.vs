# x w / sqrt(mean(x^2) + eps), by row
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel rmsnorm.once
    vseti s8, 0.00001                 # eps
.end
.kernel rmsnorm
    vmul v4, v1, s14
    vmul v4, v4, v1
    vsetmode tree
    vred.sum s1, v4, v4
    vsetmode flat
    vbcast v5, s1
    vadd v5, v5, s8
    vrsqrt v5, v5
    vmul v0, v1, v5
    vmul v0, v0, v2
.end

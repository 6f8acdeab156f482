# x w / sqrt(mean(x^2) + eps), by row; the squares inside the reduction
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel rmsnorm-sumsq.once
    vseti s8, 0.00001                 # eps
.end
.kernel rmsnorm-sumsq
    vsetmode tree
    vred.sumsq s1, v1, v1
    vsetmode flat
    vbcast v5, s1
    vfma v5, v5, s14, s8
    vrsqrt v5, v5
    vmul v0, v1, v5
    vmul v0, v0, v2
.end

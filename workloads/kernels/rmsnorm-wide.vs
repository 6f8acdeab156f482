# x w / sqrt(mean(x^2) + eps), by rows of any number of groups of sixteen
# Inputs v1 .. v3, result v0, stored result v7; see workloads/vector_program.h.
.kernel rmsnorm-wide.once
    vseti s8, 0.00001                 # eps
.end
.kernel rmsnorm-wide.row1
    vmov v8, k0
.end
.kernel rmsnorm-wide.pass1
    vfma v8, v1, v1, v8
.end
.kernel rmsnorm-wide.row2
    vsetmode tree
    vred.sum s1, v8, v8
    vsetmode flat
    vbcast v9, s1
    vfma v9, v9, s14, s8
    vrsqrt v9, v9
.end
.kernel rmsnorm-wide.pass2
    vmul v4, v1, v9
    vmul v0, v4, v2
.end

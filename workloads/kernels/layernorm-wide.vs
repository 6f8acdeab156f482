# (x - mean) w / sqrt(variance + eps) + b, by rows of any number of groups of sixteen
# Inputs v1 .. v3, result v0, stored result v7; see workloads/vector_program.h.
.kernel layernorm-wide.once
    vseti s8, 0.00001                 # eps
.end
.kernel layernorm-wide.row1
    vmov v8, k0
.end
.kernel layernorm-wide.pass1
    vadd v8, v8, v1
.end
.kernel layernorm-wide.row2
    vsetmode tree
    vred.sum s1, v8, v8
    vsetmode flat
    vbcast v9, s1
    vmul v9, v9, s14
    vmov v8, k0
.end
.kernel layernorm-wide.pass2
    vsub v4, v1, v9
    vfma v8, v4, v4, v8
.end
.kernel layernorm-wide.row3
    vsetmode tree
    vred.sum s1, v8, v8
    vsetmode flat
    vbcast v10, s1
    vfma v10, v10, s14, s8
    vrsqrt v10, v10
.end
.kernel layernorm-wide.pass3
    vsub v4, v1, v9
    vmul v4, v4, v10
    vfma v0, v4, v2, v3
.end

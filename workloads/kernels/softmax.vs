# e^(x - max) over its sum, by row
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel softmax.once
    vseti s8, 1.4426950408889634       # log2 e
.end
.kernel softmax
    vsetmode tree
    vred.max s1, v1, v1
    vsetmode flat
    vbcast v4, s1
    vsub v4, v1, v4
    vmul v4, v4, s8
    vexp2 v4, v4
    vsetmode tree
    vred.sum s1, v4, v4
    vsetmode flat
    vbcast v5, s1
    vinv v5, v5
    vmul v0, v4, v5
.end

# e^(x - max) over its sum, by rows of any number of groups of sixteen
# Inputs v1 .. v3, result v0, stored result v7; see workloads/vector_program.h.
.kernel softmax-wide.once
    vseti s8, 1.4426950408889634       # log2 e
    vseti s9, 0xff8000                # -infinity
.end
.kernel softmax-wide.row1
    vbcast v8, s9
.end
.kernel softmax-wide.pass1
    vmax v8, v8, v1
.end
.kernel softmax-wide.row2
    vsetmode tree
    vred.max s1, v8, v8
    vsetmode flat
    vbcast v9, s1
    vmov v8, k0
.end
.kernel softmax-wide.pass2
    vsub v4, v1, v9
    vmul v4, v4, s8
    vexp2 v0, v4
    vadd v8, v8, v0
.end
.kernel softmax-wide.row3
    vsetmode tree
    vred.sum s1, v8, v8
    vsetmode flat
    vbcast v9, s1
    vinv v9, v9
.end
.kernel softmax-wide.pass3
    vmul v0, v7, v9
.end

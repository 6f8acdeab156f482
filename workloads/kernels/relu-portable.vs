# (|x| + x) / 2, without a comparison
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel relu-portable.once
    vseti s8, 0.5
.end
.kernel relu-portable
    vabs v4, v1
    vadd v4, v4, v1
    vmul v0, v4, s8
.end

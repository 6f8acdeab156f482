# a b + c
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel affine
    vfma v0, v1, v2, v3
.end

# x / y
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel div
    vinv v4, v2
    vmul v0, v1, v4
.end

# min(x, y)
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel min
    vmin v0, v1, v2
.end

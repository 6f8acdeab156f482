# max(x, 0)
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel relu
    vmax v0, v1, k0
.end

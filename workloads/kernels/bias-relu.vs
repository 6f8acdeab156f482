# max(x + b, 0)
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel bias-relu
    vadd v4, v1, v2
    vmax v0, v4, k0
.end

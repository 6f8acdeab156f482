# |x|
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel abs
    vabs v0, v1
.end

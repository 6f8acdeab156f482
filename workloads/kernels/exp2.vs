# 2^x
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel exp2
    vexp2 v0, v1
.end

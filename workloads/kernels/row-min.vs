# The smallest of the row, in every element
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel row-min
    vsetmode tree
    vred.min s1, v1, v1
    vsetmode flat
    vbcast v0, s1
.end

# GELU in its tanh form: x (1 - 1 / (1 + e^2u)), u = sqrt(2/pi) (x + 0.044715 x^3)
# Inputs v1 .. v3, result v0; see workloads/vector_program.h.
.kernel gelu-tanh.once
    vseti s8, 0.044715
    vseti s9, 2.302208198275748        # 2 sqrt(2/pi) log2 e
.end
.kernel gelu-tanh
    vmul v4, v1, v1
    vmul v4, v4, s8
    vadd v4, v4, k1
    vmul v4, v4, v1
    vmul v4, v4, s9
    vexp2 v4, v4
    vadd v4, v4, k1
    vinv v4, v4
    vsub v4, k1, v4
    vmul v0, v4, v1
.end

/* The workloads that are one vector kernel: name in the code, id, keys, sentence. */
#pragma once

/* clang-format off */
#define KERNEL_WORKLOADS(K) \
    K(copy, "copy", KERNEL_KEYS, "x, element by element, on the vector cores.") \
    K(neg, "neg", KERNEL_KEYS, "-x on the vector cores.") \
    K(absolute, "abs", KERNEL_KEYS, "|x| on the vector cores.") \
    K(exp2, "exp2", KERNEL_KEYS, "2^x on the vector cores.") \
    K(recip, "recip", KERNEL_KEYS, "1/x on the vector cores; generated operands are kept away from zero.") \
    K(rsqrt, "rsqrt", KERNEL_KEYS, "1/sqrt(x) on the vector cores; generated operands are positive.") \
    K(relu, "relu", KERNEL_KEYS, "max(x, 0) on the vector cores. Variants: plain, portable.") \
    K(sigmoid, "sigmoid", KERNEL_KEYS, "1/(1 + e^-x) on the vector cores. Variants: plain, d4 (chains of four).") \
    K(silu, "silu", KERNEL_KEYS, "x/(1 + e^-x) on the vector cores. Variants: plain, d4 (chains of four).") \
    K(gelu, "gelu", KERNEL_KEYS, "gelu(x) on the vector cores. Variants: tanh, sigmoid.") \
    K(add, "add", KERNEL_KEYS, "x + y on the vector cores.") \
    K(sub, "sub", KERNEL_KEYS, "x - y on the vector cores.") \
    K(mul, "mul", KERNEL_KEYS, "x y on the vector cores.") \
    K(max, "max", KERNEL_KEYS, "The larger of x and y on the vector cores.") \
    K(min, "min", KERNEL_KEYS, "The smaller of x and y on the vector cores.") \
    K(div, "div", KERNEL_KEYS, "x/y on the vector cores; generated operands are kept away from zero.") \
    K(affine, "affine", KERNEL_KEYS, "x y + z on the vector cores.") \
    K(swiglu_elementwise, "swiglu-elementwise", KERNEL_KEYS, "silu(x) y on the vector cores.") \
    K(geglu_elementwise, "geglu-elementwise", KERNEL_KEYS, "gelu(x) y on the vector cores.") \
    K(rotate, "rotate", KERNEL_KEYS, "Every group of sixteen elements turned by one, on the vector cores.") \
    K(rowsum, "rowsum", KERNEL_KEYS, "The sum of each row, in every element of it, on the vector cores.") \
    K(rowmax, "rowmax", KERNEL_KEYS, "The largest element of each row on the vector cores.") \
    K(rowmin, "rowmin", KERNEL_KEYS, "The smallest element of each row on the vector cores.") \
    K(rowsumsq, "rowsumsq", KERNEL_KEYS, "The sum of squares of each row on the vector cores.") \
    K(softmax, "softmax", KERNEL_KEYS, "Softmax of each row on the vector cores. Variants: plain, expsum, wide.") \
    K(rmsnorm, "rmsnorm", KERNEL_KEYS, "Root-mean-square normalisation of each row, weighted. Variants: plain, sumsq, inv, wide.") \
    K(layernorm, "layernorm", KERNEL_KEYS, "Layer normalisation of each row, weighted and shifted. Variants: plain, inv, wide.") \
    K(group_norm, "group_norm", KERNEL_KEYS_GROUPED, "Normalisation of each group of columns of each row. Variants: plain, inv, wide.")
/* clang-format on */

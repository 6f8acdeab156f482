/* What vector kernels compute, in double precision: the answers they are graded against (workloads §5.1). */
#pragma once

#include <stdbool.h>

/* One row of `cols` elements from rows of up to three inputs. */
typedef void kernel_reference(const double *const x[], double *out, unsigned cols);

enum kernel_weights {
    WEIGHTS_NONE,    /* every input is an array of the full shape */
    WEIGHTS_COLUMNS, /* inputs after the first have one value a column */
};

struct kernel_value {
    const char *id; /* of the workload */
    unsigned inputs;
    double tolerance; /* of max|got - want| / max|want| */
    bool positive;    /* inputs are |x| + 1/2, so that FP16 holds their reciprocals */
    bool by_row;      /* a row is worked on as a whole */
    enum kernel_weights weights;
    kernel_reference *row;
    double (*one)(double);
    double (*second)(double); /* of the second variant, where that is another function */
    double (*two)(double, double);
    const char *const (*variants)[2]; /* name and kernel file, the default first, ended by NULL; "wide" for long rows */
};

/* NULL when no kernel has that id. */
const struct kernel_value *kernel_value_find(const char *id);
/* `variant` is its place in the list. */
void kernel_value_rows(const struct kernel_value *value, unsigned variant, const double *const x[], double *out,
                       unsigned rows, unsigned cols);

double activation_sigmoid(double x);
double activation_silu(double x);
double activation_relu(double x);
double activation_gelu_tanh(double x);
double activation_gelu_sigmoid(double x);

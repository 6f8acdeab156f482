/* The list of workload kinds. A new one is one file and one line here. */
#include "workloads/workload.h"

extern const struct workload_type workload_gemm;

const struct workload_type *const workload_types[] = {
    &workload_gemm,
    NULL,
};

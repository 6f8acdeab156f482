/* The list of workload kinds. A new one is one file and one line here. */
#include "workloads/kernel_list.h"
#include "workloads/workload.h"

#define DECLARE(name, id, keys, sentence) extern const struct workload_type workload_##name;
#define LISTED(name, id, keys, sentence)  &workload_##name,

extern const struct workload_type workload_gemm;
extern const struct workload_type workload_program;
extern const struct workload_type workload_traffic;
KERNEL_WORKLOADS(DECLARE)

const struct workload_type *const workload_types[] = {
    &workload_gemm,
    &workload_program,
    &workload_traffic,
    KERNEL_WORKLOADS(LISTED) NULL,
};

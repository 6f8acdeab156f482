/* The list of workload kinds. A new one is one file and one line here. */
#include "workloads/workload.h"

extern const struct workload_type workload_gemm;
extern const struct workload_type workload_move;
extern const struct workload_type workload_program;
extern const struct workload_type workload_quant_place;
extern const struct workload_type workload_traffic;

const struct workload_type *const workload_types[] = {
    &workload_gemm, &workload_move, &workload_program, &workload_quant_place, &workload_traffic, NULL,
};

/* The list of workload kinds. A new one is one file and one line here. */
#include "workloads/workload.h"

extern const struct workload_type workload_gemm;
extern const struct workload_type workload_move;
extern const struct workload_type workload_program;
extern const struct workload_type workload_quant_place;
extern const struct workload_type workload_traffic;
extern const struct workload_type workload_peer_self;
extern const struct workload_type workload_peer_add;
extern const struct workload_type workload_credit_starve;
extern const struct workload_type workload_credit_overrun;
extern const struct workload_type workload_shared_fetch;
extern const struct workload_type workload_l1_wrap;
extern const struct workload_type workload_reuse_violation;
extern const struct workload_type workload_bias_overflow;
extern const struct workload_type workload_saxpy;
extern const struct workload_type workload_mesh_n;
extern const struct workload_type workload_mesh_k;
extern const struct workload_type workload_mesh_k4;

/* clang-format off */
const struct workload_type *const workload_types[] = {
    &workload_gemm,
    &workload_move,
    &workload_program,
    &workload_quant_place,
    &workload_traffic,
    &workload_saxpy,
    &workload_mesh_n,
    &workload_mesh_k,
    &workload_mesh_k4,
    &workload_peer_self,
    &workload_peer_add,
    &workload_credit_starve,
    &workload_credit_overrun,
    &workload_shared_fetch,
    &workload_l1_wrap,
    &workload_reuse_violation,
    &workload_bias_overflow,
    NULL,
};
/* clang-format on */

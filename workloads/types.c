/* The list of workload kinds. A new one is one file and one line here. */
#include "workloads/kernel_list.h"
#include "workloads/workload.h"

/* clang-format off */
#define OTHER_WORKLOADS(W)                                                                                             \
    W(gemm) W(program) W(traffic) W(move) W(quant_place)                                                               \
    W(linear_silu) W(linear_relu) W(linear_gelu) W(linear_scale) W(linear_bias)                                        \
    W(swiglu) W(geglu) W(mlp) W(digits) W(saxpy)                                                                       \
    W(mesh_n) W(mesh_k) W(mesh_k4)                                                                                     \
    W(peer_self) W(peer_add) W(credit_starve) W(credit_overrun)                                                        \
    W(shared_fetch) W(l1_wrap) W(reuse_violation) W(bias_overflow)
/* clang-format on */

#define DECLARE(name)                            extern const struct workload_type workload_##name;
#define DECLARE_KERNEL(name, id, keys, sentence) DECLARE(name)
#define LISTED(name)                             &workload_##name,
#define LISTED_KERNEL(name, id, keys, sentence)  LISTED(name)

OTHER_WORKLOADS(DECLARE)
KERNEL_WORKLOADS(DECLARE_KERNEL)

const struct workload_type *const workload_types[] = {OTHER_WORKLOADS(LISTED) KERNEL_WORKLOADS(LISTED_KERNEL) NULL};

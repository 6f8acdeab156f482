/* What a point of a sweep becomes while its keys are being set; between sweep.c and sweep_rules.c. */
#pragma once

#include "analysis/expression.h"
#include "analysis/sweep_axes.h"
#include "model/machine.h"

/* A condition, or a derived key. */
struct sweep_rule {
    char *key;   /* of a derived one, else NULL */
    char *place; /* path in the sweep file */
    struct expression *expression;
};

struct sweep_draft {
    struct sweep *sweep;
    GPtrArray *assignments; /* of struct sweep_assignment, in the order in which they hold */
    json_t *labels;
    struct json_source machine; /* with its keys set */
    const char *machine_place;  /* where the sweep names the machine, and the workload */
    const char *workload_place;
    const char *machine_name;
    const char *workload_name;
    uint64_t seed;
    char **sets; /* of all assignments, so that the number of a --set is that of the assignment; NULL: to be made */
    json_t *workload; /* every key, NULL: not read yet */
    struct machine read;
    bool is_read; /* `read` is the machine */
};

/* Reads "when" and "derive". */
bool sweep_read_rules(struct sweep *sweep, GError **error);
void sweep_rule_free(void *rule);

/* Sets the derived keys, then says whether the conditions hold. */
bool sweep_derive(struct sweep_draft *draft, GError **error);
bool sweep_conditions(struct sweep_draft *draft, bool *hold, GError **error);

/* Adds an assignment and applies it; takes it over. */
bool sweep_assign(struct sweep_draft *draft, struct sweep_assignment *assignment, GError **error);

/* The machine and the workload as they stand, read whole; kept until the next assignment. */
bool sweep_draft_machine(struct sweep_draft *draft, GError **error);
bool sweep_draft_workload(struct sweep_draft *draft, GError **error);

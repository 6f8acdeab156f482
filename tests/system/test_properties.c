/* What holds of every product on every machine: the answer is that of the machine model bit for bit, every component's
 * causes add up to the run, what was sent has come, and memory traffic is what the plan says. Machines, plans and
 * shapes are drawn at random; the seed that GLib prints repeats a draw. */
#include "analysis/result.h"
#include "claims/run_bench.h"

enum {
    DRAWS = 60
};

static unsigned power_of_two(unsigned least, unsigned most) {
    return 1u << g_test_rand_int_range((gint32)least, (gint32)most + 1);
}

static unsigned between(unsigned least, unsigned most) {
    return (unsigned)g_test_rand_int_range((gint32)least, (gint32)most + 1);
}

static void add(GPtrArray *sets, const char *key, unsigned value) {
    g_ptr_array_add(sets, g_strdup_printf("%s=%u", key, value));
}

static void add_text(GPtrArray *sets, const char *key, const char *value) {
    g_ptr_array_add(sets, g_strdup_printf("%s=%s", key, value));
}

static void add_flag(GPtrArray *sets, const char *key) {
    add_text(sets, key, g_test_rand_bit() ? "true" : "false");
}

static void draw_machine(GPtrArray *sets) {
    add(sets, "noc.fall_through", between(1, 6));
    add(sets, "noc.fifo_depth", power_of_two(1, 6));
    add(sets, "noc.arbiter_phase", between(0, 4));
    add(sets, "endpoint.inst_depth", power_of_two(4, 9));
    add(sets, "endpoint.recv_depth", power_of_two(3, 9));
    add_text(sets, "memory.attachment", g_test_rand_bit() ? "converged" : "per_port");
    add(sets, "memory.latency", between(1, 60));
    add(sets, "memory.channel_bits", power_of_two(8, 10));
    add(sets, "memory.write_burst", power_of_two(0, 3)); /* others cross 4 KB pages, and say so */
    add(sets, "cluster.l1_a", power_of_two(5, 9));
    add(sets, "cluster.l1_b", power_of_two(5, 9));
    add(sets, "cluster.tiles", power_of_two(4, 10));
    add_text(sets, "cluster.assembly", g_test_rand_bit() ? "direct" : "register");
    add(sets, "cluster.accumulator_bits", between(8, 16));
    add_flag(sets, "cluster.double_rate");
    add_flag(sets, "engine.run_ahead");
}

static void draw_workload(GPtrArray *sets) {
    add(sets, "workload.m", between(1, 150));
    add(sets, "workload.k", between(1, 400));
    add(sets, "workload.n", between(1, 150));
    add_flag(sets, "workload.emit");
    add_flag(sets, "workload.resident");
    add_flag(sets, "workload.late_drain");
    add_flag(sets, "workload.schedule_a_first");
    add_flag(sets, "workload.shadow");
    add_text(sets, "workload.placement", g_test_rand_bit() ? "bands" : "roundrobin");
    add_text(sets, "workload.kicks", g_test_rand_bit() ? "pass" : "cluster");
    add_text(sets, "workload.wait", g_test_rand_bit() ? "global" : "node");
    add_text(sets, "workload.transform", g_test_rand_bit() ? "upload" : "fetch");
}

/* Every flit a component sent has been taken by the one it was for. */
static void check_conservation(const struct finished_run *finished) {
    const struct system *system = finished->run.system;
    uint64_t sent[FLIT_TYPES] = {0}, come[FLIT_TYPES] = {0};
    for (unsigned p = 0; p < system->agent.port_count; p++)
        for (unsigned type = 0; type < FLIT_TYPES; type++) {
            sent[type] += system->agent.ports[p].counts.out[type];
            come[type] += system->agent.ports[p].counts.in[type];
        }
    for (unsigned type = 0; type < FLIT_TYPES; type++) {
        sent[type] += finished_flits(finished, type, true);
        come[type] += finished_flits(finished, type, false);
    }
    sent[FLIT_CU_INST] += system->agent.dispatch.pushed;
    come[FLIT_CU_SIGNAL] += system->agent.dispatch.signals;
    for (unsigned type = 0; type < FLIT_TYPES; type++)
        g_assert_cmpuint(sent[type], ==, come[type]);
    g_assert_cmpuint(sent[FLIT_CU_INST], ==, sent[FLIT_CU_SIGNAL]);
    g_assert_cmpuint(sent[FLIT_MEM_WR_REQ], ==, sent[FLIT_MEM_WR_ACK]);
    g_assert_true(system_quiet(system));
}

static uint64_t fact(const struct run *run, const char *key) {
    for (guint i = 0; i < run->facts->len; i++)
        if (g_str_equal(g_array_index(run->facts, struct run_fact, i).key, key))
            return g_array_index(run->facts, struct run_fact, i).count;
    g_error("no fact %s", key);
}

static void check_plan(const struct finished_run *finished) {
    const struct system *system = finished->run.system;
    uint64_t issues = 0, pacing = 0;
    for (unsigned i = 0; i < system->endpoint_count; i++) {
        struct cluster_counts counts = finished_counts(finished, i);
        issues += counts.load + counts.add + counts.add_emit;
        pacing += counts.pacing_cycles;
    }
    g_assert_cmpuint(system->dram.reads, ==, fact(&finished->run, "plan.read_words"));
    g_assert_cmpuint(system->dram.writes, ==, fact(&finished->run, "plan.write_words"));
    g_assert_cmpuint(issues, ==, fact(&finished->run, "plan.sweep_cycles"));
    /* the plan counts idle cycles behind a sweep's last issue too, the cluster those between issues */
    g_assert_cmpuint(pacing, <=, fact(&finished->run, "plan.pacing_cycles"));
}

static void one_draw(const char *machine) {
    struct finished_run finished;
    GError *error = NULL;
    g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(g_free);
    draw_machine(sets);
    draw_workload(sets);
    g_ptr_array_add(sets, NULL);
    g_autofree char *line = g_strjoinv(" --set ", (char **)sets->pdata);
    g_test_message("flitsim run %s gemm --set %s", machine, line);
    run_on_bench(&finished, machine, "gemm", (char **)sets->pdata, 3);
    json_t *result = result_build(&finished.run, &error); /* refuses causes that do not add up */
    g_assert_no_error(error);
    json_decref(result);
    check_conservation(&finished);
    check_plan(&finished);
    g_assert_cmpuint(finished.run.system->hazards.hazards->len, ==, 0);
    finished_clear(&finished);
}

static void products_on_any_machine(void) {
    static const char *const machines[] = {"one", "ref2", "ref4", "ref8", "ship_1x2_4_0"};
    for (unsigned draw = 0; draw < DRAWS; draw++)
        one_draw(machines[draw % G_N_ELEMENTS(machines)]);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/properties/products_on_any_machine", products_on_any_machine);
    return g_test_run();
}

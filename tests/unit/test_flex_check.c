/* What flex_check refuses and in which words, every documented choice alone, and random machines of all knobs: nothing
 * is lost, nothing hangs, and pairs stay in order where that is promised. */
#include "flex_traffic.h"
#include "model/error.h"

/* Some traffic, then drained to the last flit. */
static void run_whole(const struct machine *machine, double rate, cycle_t cycles, bool edges) {
    struct traffic traffic;
    traffic_init(&traffic, machine, false, edges && machine->noc.topology != TOPOLOGY_TORUS);
    traffic.types = true;
    traffic_run(&traffic, traffic_uniform, rate, cycles);
    traffic_assert_conserved(&traffic);
    g_assert_true(traffic_drain(&traffic, 2000000));
    traffic_assert_conserved(&traffic);
    g_assert_cmpuint(flex_held(&traffic.flex), ==, 0);
    if (!flex_reorders(machine) && (machine->noc.vc_by_class != VC_BY_CLASS || machine->noc.virtual_channels == 1))
        g_assert_cmpuint(traffic.reordered, ==, 0);
    traffic_clear(&traffic);
}

/* With all, only with class the order within a class holds; that is checked with one class. */
static void classes_keep_their_order(void) {
    for (unsigned vcs = 2; vcs <= 8; vcs += 2)
        for (int topology = TOPOLOGY_MESH; topology <= TOPOLOGY_TORUS; topology++) {
            struct machine machine = traffic_machine(5, 5);
            struct traffic traffic;
            machine.noc.virtual_channels = vcs;
            machine.noc.vc_by_class = VC_BY_CLASS;
            machine.noc.topology = topology;
            traffic_init(&traffic, &machine, false, false);
            traffic_run(&traffic, traffic_uniform, 0.8, 1500);
            g_assert_cmpuint(traffic.delivered, >, 1000);
            g_assert_cmpuint(traffic.reordered, ==, 0);
            traffic_clear(&traffic);
        }
}

static void every_choice_runs(void) {
    for (int arbitration = ARBITRATION_FREE_RUNNING; arbitration <= ARBITRATION_MATRIX; arbitration++)
        for (int routing = ROUTING_XY; routing <= ROUTING_TABLE; routing++)
            for (int topology = TOPOLOGY_MESH; topology <= TOPOLOGY_CONCENTRATED; topology++)
                for (int assignment = VC_FREE; assignment <= VC_BY_PAIR; assignment++) {
                    struct machine machine = traffic_machine(4, 4);
                    machine.noc.arbitration = arbitration;
                    machine.noc.routing = routing;
                    machine.noc.topology = topology;
                    machine.noc.vc_by_class = assignment;
                    machine.noc.virtual_channels = topology == TOPOLOGY_TORUS ? 4 : 2;
                    machine.noc.concentration = topology == TOPOLOGY_CONCENTRATED ? 4 : 1;
                    const char *text = topology == TOPOLOGY_CONCENTRATED ? "grid 2 2\nbase yx" : "grid 4 4\nbase yx";
                    machine.noc.table = routing_table_parse(text, "t", NULL);
                    bool adaptive = routing == ROUTING_WEST_FIRST || routing == ROUTING_ODD_EVEN;
                    g_assert_true(flex_check(&machine, NULL) || (topology == TOPOLOGY_TORUS && adaptive));
                    if (flex_check(&machine, NULL))
                        run_whole(&machine, 0.6, 300, true);
                    routing_table_free(machine.noc.table);
                }
    for (unsigned vcs = 1; vcs <= 8; vcs++)
        for (unsigned slots = 0; slots <= 16; slots += slots < 4 ? 1 : 6) {
            struct machine machine = traffic_machine(4, 4);
            machine.noc.virtual_channels = vcs;
            machine.noc.holding_slots = slots;
            machine.noc.vc_by_class = VC_BY_PAIR;
            g_assert_true(flex_check(&machine, NULL));
            run_whole(&machine, 0.6, 300, true);
        }
}

/* The ends of every range. */
static void extremes_run(void) {
    struct machine machine = traffic_machine(3, 3);
    machine.noc.fifo_depth = 1;
    machine.noc.fifo_extra = 0;
    machine.noc.fall_through = 1024;
    machine.noc.link_latency = 1024;
    machine.noc.link_period = 1024;
    machine.noc.pipeline = 200;
    machine.noc.arbiter_phase = 63;
    g_assert_true(flex_check(&machine, NULL));
    run_whole(&machine, 0.5, 10, true);
    machine = traffic_machine(3, 3);
    machine.noc.fifo_depth = 65536;
    machine.noc.fifo_extra = 0;
    machine.noc.link_period = 1024;
    machine.noc.link_width = 1023;
    g_assert_true(flex_check(&machine, NULL));
    run_whole(&machine, 0.9, 500, true);
}

static unsigned draw(uint64_t *random, unsigned low, unsigned high) {
    return low + (unsigned)((traffic_random(random) >> 20) % (high - low + 1));
}

static struct machine random_machine(uint64_t *random) {
    struct machine machine = traffic_machine(draw(random, 1, 7), draw(random, 1, 7));
    struct noc_params *noc = &machine.noc;
    noc->fifo_depth = draw(random, 1, 12);
    noc->fifo_extra = draw(random, 0, 2);
    noc->fall_through = draw(random, 1, 5);
    noc->arbiter_phase = draw(random, 0, 4);
    noc->link_latency = draw(random, 0, 1) * draw(random, 0, 9);
    noc->link_period = draw(random, 1, 4);
    noc->link_width = draw(random, 1, noc->link_period);
    noc->pipeline = draw(random, 0, 1) * draw(random, 0, 6);
    noc->holding_slots = draw(random, 0, 4);
    noc->arbitration = (int)draw(random, ARBITRATION_FREE_RUNNING, ARBITRATION_MATRIX);
    noc->routing = (int)draw(random, ROUTING_XY, ROUTING_ODD_EVEN);
    noc->topology = (int)draw(random, TOPOLOGY_MESH, TOPOLOGY_CONCENTRATED);
    noc->concentration = noc->topology == TOPOLOGY_CONCENTRATED ? draw(random, 1, 8) : 1;
    noc->virtual_channels = draw(random, 1, 8);
    noc->vc_by_class = (int)draw(random, VC_FREE, VC_BY_PAIR);
    return machine;
}

static void random_machines(void) {
    uint64_t random = 88172645463325252u;
    unsigned run = 0, refused = 0;
    while (run < 300) {
        struct machine machine = random_machine(&random);
        double rate = draw(&random, 1, 20) * 0.05;
        GError *error = NULL;
        if (!flex_check(&machine, &error)) {
            g_assert_cmpuint(strlen(error->message), >, 30);
            g_clear_error(&error);
            refused++;
            continue;
        }
        run_whole(&machine, rate, 300, draw(&random, 0, 1));
        run++;
    }
    g_test_message("%u machines run, %u refused", run, refused);
    g_assert_cmpuint(refused, <, run);
}

/* The same machine twice gives the same deliveries in the same cycles. */
static void runs_repeat(void) {
    uint64_t random = 5;
    for (unsigned i = 0; i < 20;) {
        struct machine machine = random_machine(&random);
        uint64_t hash[2];
        if (!flex_check(&machine, NULL))
            continue;
        for (unsigned k = 0; k < 2; k++) {
            struct traffic traffic;
            traffic_init(&traffic, &machine, false, false);
            traffic_run(&traffic, traffic_uniform, 0.4, 300);
            hash[k] = traffic.hash;
            traffic_clear(&traffic);
        }
        g_assert_cmphex(hash[0], ==, hash[1]);
        i++;
    }
}

struct wrong {
    size_t offset;
    unsigned value;
    const char *says;
};

#define WRONG(MEMBER, VALUE, SAYS)                                                                                     \
    { offsetof(struct noc_params, MEMBER), VALUE, SAYS }

static void ranges_are_told_in_words(void) {
    static const struct wrong wrong[] = {
        WRONG(fall_through, 0, "noc.fall_through is 0, expected 1 to 1024"),
        WRONG(fall_through, 1025, "noc.fall_through is 1025"),
        WRONG(fifo_depth, 65536, "noc.fifo_depth + noc.fifo_extra is 65538, expected 1 to 65536"),
        WRONG(link_latency, 1025, "noc.link_latency is 1025, expected 0 to 1024"),
        WRONG(link_period, 0, "noc.link_period is 0, expected 1 to 1024"),
        WRONG(link_width, 0, "noc.link_width is 0, expected 1 to 1024"),
        WRONG(link_width, 2, "noc.link_width is 2 and noc.link_period is 1"),
        WRONG(pipeline, 201, "noc.pipeline is 201, expected 0 to 200"),
        WRONG(holding_slots, 17, "noc.holding_slots is 17, expected 0 to 16"),
        WRONG(virtual_channels, 0, "noc.virtual_channels is 0, expected 1 to 8"),
        WRONG(virtual_channels, 9, "noc.virtual_channels is 9, expected 1 to 8"),
        WRONG(concentration, 17, "noc.concentration is 17, expected 1 to 16"),
        WRONG(arbitration, 4, "noc.arbitration is 4, expected 0 to 3"),
        WRONG(routing, 5, "noc.routing is 5, expected 0 to 4"),
        WRONG(topology, 3, "noc.topology is 3, expected 0 to 2"),
        WRONG(vc_by_class, 3, "noc.vc_by_class is 3, expected 0 to 2"),
        WRONG(arbiter_phase, 64, "noc.arbiter_phase is 64, expected 0 to 63"),
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        struct machine machine = traffic_machine(4, 4);
        GError *error = NULL;
        *(unsigned *)((char *)&machine.noc + wrong[i].offset) = wrong[i].value;
        g_assert_false(flex_check(&machine, &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
        if (!g_str_has_prefix(error->message, wrong[i].says))
            g_error("\"%s\", expected \"%s\"", error->message, wrong[i].says);
        g_clear_error(&error);
    }
}

static void assert_says(const struct machine *machine, const char *says) {
    GError *error = NULL;
    g_assert_false(flex_check(machine, &error));
    if (!strstr(error->message, says))
        g_error("\"%s\", expected \"%s\"", error->message, says);
    g_clear_error(&error);
}

static void relations_are_told_in_words(void) {
    struct machine machine = traffic_machine(8, 8);
    machine.noc.topology = TOPOLOGY_CONCENTRATED;
    machine.noc.concentration = 16;
    machine.noc.virtual_channels = 4;
    assert_says(&machine,
                "a router of this machine has 26 ports, and 4 virtual channels on each; expected a product up "
                "to 64");
    machine = traffic_machine(8, 8);
    machine.noc.topology = TOPOLOGY_TORUS;
    machine.noc.virtual_channels = 3;
    assert_says(&machine, "noc.virtual_channels is 3 on a torus");
    machine = traffic_machine(4095, 1);
    assert_says(&machine, "the grid is 4095 x 1, expected sides of 1 to 4094");
    machine = traffic_machine(0, 1);
    assert_says(&machine, "the grid is 0 x 1");
}

/* Only what the reference mesh cannot do asks for this network. */
static void defaults_do_not_need_it(void) {
    static const size_t offsets[] = {
        offsetof(struct noc_params, link_latency), offsetof(struct noc_params, link_period),
        offsetof(struct noc_params, pipeline),     offsetof(struct noc_params, holding_slots),
        offsetof(struct noc_params, arbitration),  offsetof(struct noc_params, routing),
        offsetof(struct noc_params, topology),     offsetof(struct noc_params, virtual_channels)};
    struct machine machine = traffic_machine(4, 4);
    machine.noc.fifo_depth = 7;
    machine.noc.fall_through = 1;
    machine.noc.arbiter_phase = 2;
    g_assert_false(flex_needed(&machine));
    for (unsigned i = 0; i < G_N_ELEMENTS(offsets); i++) {
        struct machine other = machine;
        *(unsigned *)((char *)&other.noc + offsets[i]) += 1;
        g_assert_true(flex_needed(&other));
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flex/check/ranges_are_told_in_words", ranges_are_told_in_words);
    g_test_add_func("/flex/check/relations_are_told_in_words", relations_are_told_in_words);
    g_test_add_func("/flex/check/defaults_do_not_need_it", defaults_do_not_need_it);
    g_test_add_func("/flex/every_choice_runs", every_choice_runs);
    g_test_add_func("/flex/extremes_run", extremes_run);
    g_test_add_func("/flex/classes_keep_their_order", classes_keep_their_order);
    g_test_add_func("/flex/random_machines", random_machines);
    g_test_add_func("/flex/runs_repeat", runs_repeat);
    return g_test_run();
}

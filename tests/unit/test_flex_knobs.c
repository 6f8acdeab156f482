/* Every knob of routers and links does what it says, by the exact number where there is one, else in the direction an
 * architect expects (workloads §8). */
#include "flex_traffic.h"

/* Cycles from offer to delivery of one flit in an empty network, between two local places. */
static uint64_t lone_latency(const struct machine *machine, unsigned from, unsigned to) {
    struct traffic traffic;
    traffic_init(&traffic, machine, false, false);
    traffic_put(&traffic, from, to, FLIT_CU_DATA);
    g_assert_true(traffic_drain(&traffic, 100000));
    uint64_t latency = traffic.latency;
    traffic_clear(&traffic);
    return latency;
}

struct outcome {
    double accepted; /* flits a node and cycle */
    uint64_t hol;
    double latency; /* mean, in the network */
    double by_type[FLIT_TYPES];
};

static struct outcome measure(const struct machine *machine, traffic_pattern *pattern, double rate, cycle_t cycles) {
    struct traffic traffic;
    traffic_init(&traffic, machine, false, false);
    traffic_run(&traffic, pattern, rate, cycles / 4);
    uint64_t before = traffic.delivered, hol = traffic_sum_hol(&traffic);
    traffic_run(&traffic, pattern, rate, cycles);
    struct outcome outcome = {.accepted = (double)(traffic.delivered - before) / cycles / traffic.locals,
                              .hol = traffic_sum_hol(&traffic) - hol,
                              .latency = (double)traffic.latency / traffic.delivered};
    traffic_assert_conserved(&traffic);
    g_assert_true(traffic.reordered == 0 || flex_reorders(machine));
    g_test_message("accepted %.4f hol %lu latency %.1f", outcome.accepted, (unsigned long)outcome.hol, outcome.latency);
    traffic_clear(&traffic);
    return outcome;
}

static void latency_is_hops_times_delays(void) {
    for (unsigned hops = 1; hops <= 7; hops++)
        for (unsigned value = 0; value <= 40; value = 3 * value + 1) {
            unsigned to = hops == 1 ? 0 : hops - 1; /* along the row */
            struct machine machine = traffic_machine(7, 3);
            g_assert_cmpuint(lone_latency(&machine, 0, to), ==, hops * 5);
            machine.noc.link_latency = value;
            g_assert_cmpuint(lone_latency(&machine, 0, to), ==, hops * 5 + (hops - 1) * value);
            machine.noc.link_latency = 0;
            machine.noc.pipeline = value;
            g_assert_cmpuint(lone_latency(&machine, 0, to), ==, hops * (5 + value));
            machine.noc.pipeline = 0;
            machine.noc.link_period = value + 1; /* a flit has crossed when its last part has */
            g_assert_cmpuint(lone_latency(&machine, 0, to), ==, hops * 5 + (hops - 1) * value);
            machine.noc.link_period = 1;
            machine.noc.fall_through = value + 1;
            g_assert_cmpuint(lone_latency(&machine, 0, to), ==, hops * (value + 3));
        }
}

/* Flits a stream along a row of three routers moves in 2000 cycles. */
static uint64_t stream(const struct machine *machine) {
    struct traffic traffic;
    traffic_init(&traffic, machine, false, false);
    for (unsigned i = 0; i < 4000; i++)
        traffic_put(&traffic, 0, 2, FLIT_CU_DATA);
    traffic_run(&traffic, traffic_to_first, 0, 1000);
    uint64_t before = traffic.delivered;
    traffic_run(&traffic, traffic_to_first, 0, 2000);
    uint64_t moved = traffic.delivered - before;
    traffic_assert_conserved(&traffic);
    traffic_clear(&traffic);
    return moved;
}

static void narrower_link_divides_throughput(void) {
    struct machine machine = traffic_machine(3, 1);
    g_assert_cmpuint(stream(&machine), ==, 2000);
    for (unsigned period = 2; period <= 8; period *= 2) {
        machine.noc.link_period = period;
        g_assert_cmpuint(stream(&machine), ==, 2000 / period);
    }
    machine.noc.link_width = 5; /* five flits in eight cycles */
    g_assert_cmpuint(stream(&machine), ==, 2000 * 5 / 8);
}

/* Credits: a place is held from the departure of a flit until the news of its leaving is back, so at full rate a
 * stream needs 2 L + F + 1 places (F + 1 on a link without latency, where the news takes no time). */
static void long_link_needs_places_for_its_round_trip(void) {
    for (unsigned latency = 0; latency <= 12; latency += 4) {
        struct machine machine = traffic_machine(3, 1);
        unsigned need = 2 * latency + machine.noc.fall_through + 1;
        machine.noc.link_latency = latency;
        machine.noc.fifo_extra = 0;
        machine.noc.fifo_depth = need;
        g_assert_cmpuint(stream(&machine), ==, 2000);
        machine.noc.fifo_depth = need / 2;
        uint64_t half = stream(&machine);
        g_test_message("latency %u, %u places: %lu", latency, need / 2, (unsigned long)half);
        g_assert_cmpuint(half, <=, 2000 * (need / 2) / need + 2);
        g_assert_cmpuint(half + 2, >=, 2000 * (need / 2) / need);
    }
}

static void pipeline_keeps_full_rate(void) {
    struct machine machine = traffic_machine(3, 1);
    for (unsigned pipeline = 1; pipeline <= 9; pipeline += 4) {
        machine.noc.pipeline = pipeline;
        g_assert_cmpuint(stream(&machine), ==, 2000);
    }
}

static void depth_is_the_room_and_never_hurts(void) {
    struct machine machine = traffic_machine(8, 8);
    double last = 0;
    for (unsigned depth = 2; depth <= 128; depth *= 4) {
        machine.noc.fifo_depth = depth;
        double accepted = measure(&machine, traffic_uniform, 0.9, 4000).accepted;
        g_assert_cmpfloat(accepted, >, last * 0.99);
        last = accepted;
    }
    struct traffic traffic; /* a blocked stream fills every store to depth + extra and no further */
    machine = traffic_machine(4, 1);
    machine.noc.fifo_depth = 9;
    traffic_init(&traffic, &machine, false, false);
    traffic.nodes[3].refuse = 16;
    for (unsigned i = 0; i < 200; i++)
        traffic_put(&traffic, 0, 3, FLIT_CU_DATA);
    g_assert_false(traffic_drain(&traffic, 2000));
    g_assert_cmpuint(flex_held(&traffic.flex), ==, 4 * (9 + 2 + 2));
    g_assert_cmpuint(flex_input(&traffic.flex, 2, 1, SIDE_WEST).max_depth, ==, 11);
    traffic_clear(&traffic);
}

static void depth_on_a_long_link_counts_what_has_landed(void) {
    struct traffic traffic;
    struct machine machine = traffic_machine(2, 1);
    machine.noc.link_latency = 20;
    machine.noc.fifo_depth = 62;
    traffic_init(&traffic, &machine, false, false);
    for (unsigned i = 0; i < 200; i++)
        traffic_put(&traffic, 0, 1, FLIT_CU_DATA);
    g_assert_true(traffic_drain(&traffic, 2000));
    g_assert_cmpuint(flex_input(&traffic.flex, 2, 1, SIDE_WEST).max_depth, ==, machine.noc.fall_through + 1);
    traffic_clear(&traffic);
}

/* With k slots it shrinks, with a slot an output it is gone, and what was lost by it comes back as throughput. */
static void a_slot_per_output_ends_head_of_line_blocking(void) {
    struct machine machine = traffic_machine(8, 8);
    struct outcome one = measure(&machine, traffic_uniform, 0.9, 6000);
    machine.noc.holding_slots = 2;
    struct outcome two = measure(&machine, traffic_uniform, 0.9, 6000);
    machine.noc.holding_slots = 5;
    struct outcome five = measure(&machine, traffic_uniform, 0.9, 6000);
    machine.noc.holding_slots = 0;
    struct outcome all = measure(&machine, traffic_uniform, 0.9, 6000);
    g_assert_cmpuint(one.hol, >, 10000);
    g_assert_cmpuint(two.hol, <, one.hol);
    g_assert_cmpuint(five.hol, <, two.hol);
    g_assert_cmpuint(all.hol, ==, 0);
    g_assert_cmpfloat(two.accepted, >, one.accepted * 1.02);
    g_assert_cmpfloat(five.accepted, >, two.accepted);
    g_assert_cmpfloat(all.accepted, >, one.accepted * 1.1);
}

/* One quarter to one node: below the rate that node can take, the others need not wait behind flits for it. Above it
 * the whole path fills with flits for the hot node and no slot helps. */
static void slots_help_the_bystanders_of_a_hot_node(void) {
    struct machine machine = traffic_machine(8, 8);
    double hot_limit = 4.0 / 63;
    struct outcome one = measure(&machine, traffic_mixhot, 0.95 * hot_limit, 20000);
    machine.noc.holding_slots = 0;
    struct outcome all = measure(&machine, traffic_mixhot, 0.95 * hot_limit, 20000);
    g_assert_cmpuint(one.hol, >, 0);
    g_assert_cmpuint(all.hol, ==, 0);
    g_assert_cmpfloat(all.accepted, >=, one.accepted);
    g_assert_cmpfloat(all.latency, <, one.latency);
}

static void channels_reduce_head_of_line_blocking(void) {
    struct machine machine = traffic_machine(8, 8);
    double last = measure(&machine, traffic_uniform, 0.9, 6000).accepted;
    for (int assignment = VC_FREE; assignment <= VC_BY_PAIR; assignment += VC_BY_PAIR)
        for (unsigned vcs = 4; vcs <= 8; vcs += 4) { /* the same places in all */
            machine.noc.fifo_extra = 0;
            machine.noc.fifo_depth = 32 / vcs;
            machine.noc.virtual_channels = vcs;
            machine.noc.vc_by_class = assignment;
            g_assert_cmpfloat(measure(&machine, traffic_uniform, 0.9, 6000).accepted, >, last * 1.05);
        }
}

/* One class of messages that nobody takes must not hold up the others. */
static void classes_do_not_block_each_other(void) {
    for (unsigned vcs = 1; vcs <= 8; vcs++) {
        struct machine machine = traffic_machine(4, 1);
        struct traffic traffic;
        machine.noc.virtual_channels = vcs;
        machine.noc.vc_by_class = VC_BY_CLASS;
        traffic_init(&traffic, &machine, false, false);
        traffic.nodes[3].refuse = 16;
        for (unsigned i = 0; i < 300; i++)
            traffic_put(&traffic, 0, 3, FLIT_MEM_RD_REQ);
        for (unsigned i = 0; i < 50; i++)
            traffic_put(&traffic, 1, 2, FLIT_MEM_RD_RESP);
        traffic_drain(&traffic, 3000);
        g_assert_cmpuint(traffic.delivered, ==, vcs == 1 ? traffic.nodes[2].received : 50);
        g_assert_cmpuint(traffic.nodes[2].received, <=, 50);
        if (vcs == 1)
            g_assert_cmpuint(traffic.nodes[2].received, <, 50);
        traffic_clear(&traffic);
    }
}

/* Flits of two or more saturated senders that reach node 0 in 4000 cycles, per sender. */
static void share_of_first(int arbitration, unsigned ny, double *share) {
    struct machine machine = traffic_machine(1, ny);
    struct traffic traffic;
    machine.noc.arbitration = arbitration;
    traffic_init(&traffic, &machine, false, false);
    traffic_run(&traffic, traffic_to_first, 1.0, 1000);
    uint64_t sent[16];
    for (unsigned i = 1; i < ny; i++)
        sent[i] = traffic.nodes[i].sent;
    traffic_run(&traffic, traffic_to_first, 1.0, 8000);
    for (unsigned i = 1; i < ny; i++)
        share[i] = (double)(traffic.nodes[i].sent - sent[i]) / 8000;
    traffic_clear(&traffic);
}

static void arbitration_shares(void) {
    double share[16];
    share_of_first(ARBITRATION_FREE_RUNNING, 3, share); /* at (1,2): local against south, 2/5 from south to local */
    g_assert_cmpfloat_with_epsilon(share[1], 0.4, 0.01);
    g_assert_cmpfloat_with_epsilon(share[2], 0.6, 0.01);
    for (int arbitration = ARBITRATION_ROUND_ROBIN; arbitration <= ARBITRATION_MATRIX; arbitration += 2) {
        share_of_first(arbitration, 3, share);
        g_assert_cmpfloat_with_epsilon(share[1], 0.5, 0.01);
        g_assert_cmpfloat_with_epsilon(share[2], 0.5, 0.01);
    }
    share_of_first(ARBITRATION_ROUND_ROBIN, 8, share); /* halved at every router on the way */
    g_assert_cmpfloat_with_epsilon(share[1], 0.5, 0.01);
    g_assert_cmpfloat_with_epsilon(share[3], 0.125, 0.01);
    g_assert_cmpfloat(share[7], <, 0.03);
    share_of_first(ARBITRATION_OLDEST_FIRST, 8, share);
    double expected[8], through = 0, age = 0, sum = 0;
    for (unsigned i = 7; i >= 1; i--) { /* where two streams meet, both have waited as long: full stores over rates */
        expected[i] = i == 7 ? 1 : 1 / age;
        through += expected[i];
        age = (i == 7 ? 1 : age) + 1 / through;
        sum = through;
    }
    for (unsigned i = 1; i < 8; i++)
        g_assert_cmpfloat_with_epsilon(share[i], expected[i] / sum, 0.02);
}

/* All four sides of a router saturated towards its local port: the pointer gives gaps, the others quarters. */
static void fair_policies_share_alike(void) {
    for (int arbitration = ARBITRATION_ROUND_ROBIN; arbitration <= ARBITRATION_MATRIX; arbitration++) {
        struct machine machine = traffic_machine(3, 3);
        struct traffic traffic;
        machine.noc.arbitration = arbitration;
        traffic_init(&traffic, &machine, false, false);
        static const unsigned senders[] = {1, 3, 5, 7};
        for (unsigned i = 0; i < 4 * 4000; i++)
            traffic_put(&traffic, senders[i % 4], 4, FLIT_CU_DATA);
        traffic_run(&traffic, traffic_to_first, 0, 4000);
        for (unsigned i = 0; i < 4; i++)
            g_assert_cmpfloat_with_epsilon((double)traffic.nodes[senders[i]].sent / 4000, 0.26, 0.01);
        traffic_clear(&traffic);
    }
}

/* What a receiver is told to be offered is what it gets. */
static void what_is_offered_is_what_comes(void) {
    for (unsigned vcs = 1; vcs <= 4; vcs += 3) {
        struct machine machine = traffic_machine(3, 3);
        struct traffic traffic;
        machine.noc.pipeline = 2;
        machine.noc.virtual_channels = vcs;
        machine.noc.vc_by_class = VC_BY_PAIR;
        traffic_init(&traffic, &machine, false, false);
        traffic.pattern = traffic_uniform;
        traffic.rate = 0.5;
        while (traffic.now < 1000) {
            bool offered = flex_offered(&traffic.flex, 2, 2, traffic.now) != FLIT_NONE;
            uint64_t before = traffic.nodes[4].received;
            traffic_cycle(&traffic, true);
            g_assert_cmpuint(traffic.nodes[4].received - before, ==, offered);
        }
        g_assert_cmpuint(traffic.nodes[4].received, >, 100);
        traffic_clear(&traffic);
    }
}

/* Lossless in the narrowest of everything. */
static void least_of_everything(void) {
    struct machine machine = traffic_machine(4, 4);
    machine.noc.fifo_depth = 1;
    machine.noc.fifo_extra = 0;
    machine.noc.fall_through = 1;
    machine.noc.link_latency = 9;
    machine.noc.link_period = 3;
    struct traffic traffic;
    traffic_init(&traffic, &machine, false, true);
    traffic_run(&traffic, traffic_uniform, 0.5, 500);
    g_assert_true(traffic_drain(&traffic, 200000));
    g_assert_cmpuint(traffic.reordered, ==, 0);
    traffic_assert_conserved(&traffic);
    traffic_clear(&traffic);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flex/knobs/latency_is_hops_times_delays", latency_is_hops_times_delays);
    g_test_add_func("/flex/knobs/narrower_link_divides_throughput", narrower_link_divides_throughput);
    g_test_add_func("/flex/knobs/long_link_needs_places_for_its_round_trip", long_link_needs_places_for_its_round_trip);
    g_test_add_func("/flex/knobs/pipeline_keeps_full_rate", pipeline_keeps_full_rate);
    g_test_add_func("/flex/knobs/depth_is_the_room_and_never_hurts", depth_is_the_room_and_never_hurts);
    g_test_add_func("/flex/knobs/depth_on_a_long_link_counts_what_has_landed",
                    depth_on_a_long_link_counts_what_has_landed);
    g_test_add_func("/flex/knobs/a_slot_per_output_ends_head_of_line_blocking",
                    a_slot_per_output_ends_head_of_line_blocking);
    g_test_add_func("/flex/knobs/slots_help_the_bystanders_of_a_hot_node", slots_help_the_bystanders_of_a_hot_node);
    g_test_add_func("/flex/knobs/channels_reduce_head_of_line_blocking", channels_reduce_head_of_line_blocking);
    g_test_add_func("/flex/knobs/classes_do_not_block_each_other", classes_do_not_block_each_other);
    g_test_add_func("/flex/knobs/arbitration_shares", arbitration_shares);
    g_test_add_func("/flex/knobs/fair_policies_share_alike", fair_policies_share_alike);
    g_test_add_func("/flex/knobs/what_is_offered_is_what_comes", what_is_offered_is_what_comes);
    g_test_add_func("/flex/knobs/least_of_everything", least_of_everything);
    return g_test_run();
}

/* Replay of recorded GEMM runs; see replay_gemm.h. What belongs to a recorded run and not to the machine (schedule,
 * host polling, arbitration phase, counting window) is what the recording's description fixes. */
#include "analysis/replay_gemm.h"

#include <string.h>

#include "model/numeric/fp16.h"
#include "units/cluster/cluster.h"
#include "units/system.h"
#include "workloads/grade.h"
#include "workloads/layout.h"
#include "workloads/operands.h"
#include "workloads/planner.h"
#include "workloads/rounds.h"

enum {
    GRID_COLUMNS = 2,
    GRID_ROWS = 4,
    SAMPLE_FIRST = 3, /* run bit sampled in K+3, K+7, … */
    SAMPLE_EVERY = 4,
    SAMPLE_TO_KICK = 17,
    RECORDED_PHASE = 4,
    RECORDED_SEED = 1,
    TAIL_LIMIT = 1000000,
};

static cycle_t host_step(void *self, cycle_t now) {
    static const int32_t write_before[] = {13, 9, 5, 1}; /* data beats before the kick request */
    struct gemm_host *host = self;
    if (host->next == host->round->kick_count)
        return CYCLE_NEVER;
    const struct kick *kick = &host->round->kicks[host->next];
    if (host->kick_at == CYCLE_NEVER) {
        /* a sample in S shows the run bit of S */
        if (dispatch_read(host->dispatch, AGENT_PROG_STAT, now) & 1)
            return host->sample_at = now + SAMPLE_EVERY;
        host->kick_at = now + SAMPLE_TO_KICK;
    }
    const uint32_t registers[] = {AGENT_PROG_DST, AGENT_PROG_LEN, AGENT_PROG_BASE, AGENT_PROG_KICK};
    const uint64_t values[] = {node_byte(kick->x, kick->y), kick->length, kick->base, 1};
    for (unsigned w = 0; w < 4; w++) {
        cycle_t at = host->kick_at - (cycle_t)write_before[w];
        if (now == at)
            dispatch_write(host->dispatch, registers[w], values[w], now);
        if (now < at)
            return at;
    }
    cycle_t request = host->kick_at;
    host->next++;
    host->kick_at = CYCLE_NEVER;
    return host->sample_at = request + SAMPLE_FIRST;
}

static const char *text(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static int64_t number(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

static void describe_machine(struct gemm_replay *replay) {
    struct machine *machine = &replay->machine;
    const char *memory = text(replay->entry, "memory");
    bool one_port = strcmp(text(replay->entry, "memory_ports"), "one per row") != 0;
    machine_init(machine);
    machine->name = g_strdup("recorded");
    machine->nx = GRID_COLUMNS;
    machine->ny = GRID_ROWS;
    machine->rtl_defects = true;
    machine->noc.fifo_depth = 32;
    machine->noc.arbiter_phase = RECORDED_PHASE;
    machine->endpoint.inst_depth = machine->endpoint.recv_depth = 512;
    machine->agent.staging_flits = 1400;
    machine->memory.attachment = strcmp(memory, "per-port") == 0 ? MEMORY_PER_PORT : MEMORY_CONVERGED;
    machine->memory.channel_bits = strcmp(memory, "converged-512") == 0 ? 512 : 256;
    machine->memory.latency = 1;
    machine->memory.fetch_transform = strcmp(text(replay->entry, "operands"), "online") == 0;
    machine->memory.write_burst = number(replay->entry, "write_burst");
    machine->cluster.tiles = 4096;
    machine->cluster.l1_a = machine->cluster.l1_b = 512;
    machine->cluster.assembly = ASSEMBLY_REGISTER;
    machine->port_count = GRID_ROWS;
    machine->ports = g_new0(struct machine_port, GRID_ROWS);
    for (unsigned p = 0; p < GRID_ROWS; p++)
        machine->ports[p] = (struct machine_port){.x = 0, .y = p + 1};
    const json_t *nodes = json_object_get(replay->entry, "cluster_xy");
    machine->unit_count = json_array_size(nodes);
    machine->units = g_new0(struct machine_unit, machine->unit_count);
    for (unsigned i = 0; i < machine->unit_count; i++) {
        const json_t *xy = json_array_get(nodes, i);
        unsigned x = json_integer_value(json_array_get(xy, 0)), y = json_integer_value(json_array_get(xy, 1));
        machine->units[i] = (struct machine_unit){.kind = UNIT_CLUSTER,
                                                  .type = g_strdup("cluster"),
                                                  .name = g_strdup_printf("cluster%u", i),
                                                  .x = x,
                                                  .y = y,
                                                  .port = one_port ? 0 : y - 1};
    }
}

static bool plan(struct gemm_replay *replay, GError **error) {
    const json_t *entry = replay->entry, *shape = json_object_get(entry, "shape"),
                 *tile = json_object_get(entry, "tile");
    size_t m = json_integer_value(json_array_get(shape, 0)), k = json_integer_value(json_array_get(shape, 1)),
           n = json_integer_value(json_array_get(shape, 2));
    struct gemm_options options;
    gemm_options_init(&options);
    options.schedule = SCHEDULE_REFERENCE;
    options.gm = number(tile, "gm");
    options.gn = number(tile, "gn");
    options.nk = number(tile, "nk");
    options.emit = strcmp(text(entry, "drain"), "fused") == 0;
    options.late_drain = strcmp(text(entry, "drain_position"), "after next tile starts") == 0;
    options.fp16_fetch = replay->machine.memory.fetch_transform;
    options.write_burst = replay->machine.memory.write_burst;
    options.split_fills = true;
    struct planner_limits limits = planner_limits_of(&replay->machine);
    replay->plan = gemm_plan_new(&limits, replay->machine.unit_count, m, k, n, &options, error);
    if (!replay->plan)
        return false;
    /* images one behind the other */
    size_t entry_bytes = options.fp16_fetch ? 256 : 128;
    options.b = operand_entries(&replay->plan->a) * entry_bytes;
    options.c = options.b + operand_entries(&replay->plan->b) * entry_bytes;
    gemm_plan_free(replay->plan);
    replay->plan = gemm_plan_new(&limits, replay->machine.unit_count, m, k, n, &options, error);
    struct round_options rounds;
    round_options_init(&rounds);
    rounds.kicks = KICK_SLICES;
    rounds.kick_flits = number(entry, "dispatch_chunk");
    rounds.staging_flits = replay->machine.agent.staging_flits;
    rounds.commands = UINT16_MAX;
    rounds.credit = 60000;
    g_autofree struct node *nodes = g_new0(struct node, replay->machine.unit_count);
    for (unsigned i = 0; i < replay->machine.unit_count; i++)
        nodes[i] = (struct node){replay->machine.units[i].x, replay->machine.units[i].y};
    replay->rounds = rounds_new(replay->plan, nodes, &rounds, error);
    return replay->rounds;
}

static void load_operand(struct gemm_replay *replay, const struct tensor *tensor, const struct operand_layout *layout,
                         enum mxfp7_packing packing, uint64_t address, struct mxfp7_entry **entries, size_t *count) {
    g_autofree uint16_t *halves = tensor_to_fp16(tensor);
    *count = operand_entries(layout);
    *entries = g_new0(struct mxfp7_entry, *count);
    operand_quantise(layout, halves, *entries);
    if (replay->machine.memory.fetch_transform) {
        g_autofree struct word256 *image = g_new0(struct word256, *count * 8);
        operand_pack(layout, halves, (uint8_t *)image);
        dram_load(&replay->system->dram, address, image, *count * 256);
        return;
    }
    for (size_t e = 0; e < *count; e++) {
        struct word256 words[4];
        mxfp7_pack(&(*entries)[e], packing, words);
        dram_load(&replay->system->dram, address + e * 128, words, sizeof words);
    }
}

static void load(struct gemm_replay *replay) {
    const struct gemm_plan *gemm = replay->plan;
    struct distribution distribution;
    distribution_parse("normal", &distribution, NULL);
    operands_generate(&distribution, RECORDED_SEED, gemm->m, gemm->k, gemm->n, &replay->a, &replay->b);
    load_operand(replay, replay->a, &gemm->a, MXFP7_ROWS, gemm->options.a, &replay->entries_a, &replay->count_a);
    load_operand(replay, replay->b, &gemm->b, MXFP7_COLUMNS, gemm->options.b, &replay->entries_b, &replay->count_b);
    const struct round *round = &replay->rounds->rounds[0];
    for (unsigned f = 0; f < round->flit_count; f++) {
        struct word256 payload = {{0}};
        struct cluster_inst inst = round->flits[f].inst;
        cluster_inst_encode(&inst, &payload, NULL);
        dispatch_stage(&replay->system->agent.dispatch, f, &payload, FLIT_CU_INST, round->flits[f].txn,
                       round->flits[f].last);
    }
    replay->system->agent.dispatch.credit = 60000;
}

cycle_t gemm_replay_run(struct gemm_replay *replay, const struct gemm_watch *watch) {
    struct system *system = replay->system;
    const struct round *round = &replay->rounds->rounds[0];
    cycle_t first = GEMM_FIRST_KICK - 13, due = first, end = CYCLE_NEVER;
    replay->host = (struct gemm_host){
        .dispatch = &system->agent.dispatch, .round = round, .kick_at = GEMM_FIRST_KICK, .sample_at = CYCLE_NEVER};
    system->agent.host = (struct agent_host){.self = &replay->host, .step = host_step, .due = first};
    agent_wake(&system->agent, first);
    for (cycle_t now = first; now <= end && (due != CYCLE_NEVER || (watch && end != CYCLE_NEVER));
         now = watch ? now + 1 : due) {
        if (end == CYCLE_NEVER && system->agent.dispatch.signals == round->flit_count)
            end = system->agent.dispatch.last_signal + (watch ? watch->tail : 0);
        if (watch)
            watch->cycle(watch->self, now);
        if (now == due && now <= end)
            due = system_step(system, now);
    }
    return system->agent.dispatch.signals == round->flit_count ? system->agent.dispatch.last_signal - GEMM_FIRST_KICK
                                                               : 0;
}

/* ---- comparison ---- */

struct totals {
    struct port_counts ports;
    uint64_t in, out;
};

static void add_counts(uint64_t *to, const uint64_t *from, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

static struct totals port_totals(const struct system *system) {
    struct totals totals = {.in = system->agent.agent_in, .out = system->agent.agent_out};
    for (unsigned p = 0; p < system->agent.port_count; p++) {
        const struct port_counts *counts = &system->agent.ports[p].counts;
        add_counts((uint64_t *)&totals.ports, (const uint64_t *)counts, sizeof *counts / sizeof(uint64_t));
        for (unsigned type = 0; type < FLIT_TYPES; type++) {
            totals.in += counts->in[type];
            totals.out += counts->out[type];
        }
    }
    return totals;
}

static void compare_counter(struct gemm_replay *replay, const char *name, uint64_t ours, struct replay_result *out) {
    g_autofree char *what = g_strdup_printf("counters.%s", name);
    replay_add_number(out, what, number(json_object_get(replay->entry, "counters"), name), (gint64)ours);
}

static void compare_ports(struct gemm_replay *replay, struct replay_result *out) {
    struct totals totals = port_totals(replay->system);
    const struct {
        const char *name;
        uint64_t value;
    } counters[] = {{"rd_beats", totals.ports.read_words},
                    {"wr_beats", totals.ports.write_words},
                    {"port_in", totals.in},
                    {"port_out", totals.out},
                    {"qfill", totals.ports.fetch_cycles},
                    {"qwait", totals.ports.hold_cycles},
                    {"qemit", totals.ports.emit_cycles},
                    {"wr_state", totals.ports.write_cycles},
                    {"in_bp", totals.ports.refused_in + replay->system->agent.refused_in},
                    {"out_bp", totals.ports.refused_out + replay->system->agent.refused_out},
                    {"wslot_full", totals.ports.no_slot_cycles}};
    for (unsigned i = 0; i < G_N_ELEMENTS(counters); i++)
        compare_counter(replay, counters[i].name, counters[i].value, out);
}

/* A cluster that never left idle is recorded with zeros. */
static gint64 since_kick(const struct cluster_counts *counts, cycle_t cycle) {
    return counts->first_active ? (gint64)(cycle - GEMM_FIRST_KICK) : 0;
}

static void compare_cluster(struct gemm_replay *replay, unsigned i, const struct cluster_counts *counts,
                            struct replay_result *out) {
    const json_t *recorded = json_array_get(json_object_get(replay->entry, "per_cluster"), i);
    const json_t *in = json_object_get(recorded, "flits_in"), *sent = json_object_get(recorded, "flits_out");
    const struct endpoint_counts *flits = &replay->system->endpoints[i].counts;
    const struct {
        const json_t *object;
        const char *name;
        uint64_t value;
    } rows[] = {{recorded, "fills", counts->fills},
                {recorded, "gemms", counts->gemms},
                {recorded, "drains", counts->drains},
                {recorded, "busy_from", since_kick(counts, counts->first_active)},
                {recorded, "busy_to", since_kick(counts, counts->last_active)},
                {in, "read_response", flits->in[FLIT_MEM_RD_RESP]},
                {in, "instruction", flits->in[FLIT_CU_INST]},
                {in, "unit_data", flits->in[FLIT_CU_DATA]},
                {in, "write_ack", flits->in[FLIT_MEM_WR_ACK]},
                {sent, "read_request", flits->out[FLIT_MEM_RD_REQ]},
                {sent, "write_descriptor", flits->out[FLIT_MEM_WR_REQ]},
                {sent, "write_data", flits->out[FLIT_MEM_WR_DATA]},
                {sent, "signal", flits->out[FLIT_CU_SIGNAL]},
                {sent, "unit_data", flits->out[FLIT_CU_DATA]}};
    for (unsigned r = 0; r < G_N_ELEMENTS(rows); r++) {
        g_autofree char *what = g_strdup_printf("per_cluster[%u].%s", i, rows[r].name);
        replay_add_number(out, what, number(rows[r].object, rows[r].name), (gint64)rows[r].value);
    }
}

static void compare_clusters(struct gemm_replay *replay, cycle_t cycles, struct replay_result *out) {
    struct cluster_counts sum = {0};
    uint64_t idle = 0;
    for (unsigned i = 0; i < replay->system->endpoint_count; i++) {
        const struct cluster *cluster = replay->system->endpoints[i].unit;
        struct cluster_counts counts = cluster_counts_at(cluster, GEMM_FIRST_KICK + cycles + 1);
        sum.fill_cycles += counts.fill_cycles;
        sum.gemm_cycles += counts.gemm_cycles;
        sum.drain_cycles += counts.drain_cycles;
        sum.sweep_cycles += counts.sweep_cycles;
        sum.held_cycles += counts.held_cycles;
        idle += cycles - counts.active_cycles;
        compare_cluster(replay, i, &counts, out);
    }
    compare_counter(replay, "fill", sum.fill_cycles, out);
    compare_counter(replay, "gemm", sum.gemm_cycles, out);
    compare_counter(replay, "sweep", sum.sweep_cycles, out);
    compare_counter(replay, "drain", sum.drain_cycles, out);
    compare_counter(replay, "emit_stall", sum.held_cycles, out);
    compare_counter(replay, "idle", idle, out);
}

/* Lets the last writes land, then grades the answer in memory. */
static void compare_answer(struct gemm_replay *replay, cycle_t from, struct replay_result *out) {
    const struct gemm_plan *gemm = replay->plan;
    struct system *system = replay->system;
    cycle_t now = from;
    while (now != CYCLE_NEVER && now < from + TAIL_LIMIT)
        now = system_step(system, now);
    g_autofree uint8_t *image = g_malloc0(result_bytes(&gemm->c));
    g_autofree uint16_t *ours = g_new0(uint16_t, gemm->m * gemm->n), *wanted = g_new0(uint16_t, gemm->m * gemm->n);
    dram_store(&system->dram, gemm->options.c, image, result_bytes(&gemm->c));
    result_untile(&gemm->c, image, ours);
    struct grade_machine machine = {.width = replay->machine.cluster.accumulator_bits};
    grade_machine_result(&gemm->a, replay->entries_a, &gemm->b, replay->entries_b, &machine, wanted);
    size_t first;
    replay_add_number(out, "answer.mismatches", 0,
                      (gint64)grade_bit_mismatches(wanted, ours, gemm->m * gemm->n, &first));
    replay_add_number(out, "instructions", number(replay->entry, "instructions"), replay->rounds->rounds[0].flit_count);
}

bool gemm_replay_open(struct gemm_replay *replay, const json_t *entry, GError **error) {
    *replay = (struct gemm_replay){.entry = entry};
    describe_machine(replay);
    if (!plan(replay, error))
        return false;
    replay->system = system_new(&replay->machine, error);
    if (!replay->system)
        return false;
    load(replay);
    return true;
}

void gemm_replay_close(struct gemm_replay *replay) {
    system_free(replay->system);
    rounds_free(replay->rounds);
    gemm_plan_free(replay->plan);
    machine_clear(&replay->machine);
    tensor_free(replay->a);
    tensor_free(replay->b);
    g_free(replay->entries_a);
    g_free(replay->entries_b);
}

bool replay_gemm(const json_t *entry, struct replay_result *out, GError **error) {
    struct gemm_replay replay;
    bool ok = gemm_replay_open(&replay, entry, error);
    if (ok) {
        cycle_t cycles = gemm_replay_run(&replay, NULL);
        replay_add_number(out, "run_cycles", number(entry, "run_cycles"), (gint64)cycles);
        compare_clusters(&replay, cycles, out);
        compare_ports(&replay, out);
        compare_answer(&replay, GEMM_FIRST_KICK + cycles + 1, out);
    }
    gemm_replay_close(&replay);
    return ok;
}

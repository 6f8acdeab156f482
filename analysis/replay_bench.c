/* See replay_bench.h. Numbers are those of the "description" of peer_runs.json and control_runs.json. */
#include "analysis/replay_bench.h"

#include <string.h>

#include "analysis/replay_tree.h"
#include "model/isa/wire.h"

enum {
    GRID = 2,
    PORTS = 2,
    FILLED_WORDS = 16384,
    MEMORY_BYTES = 1 << 21,
    SCALE_BYTES = 4,
    WORDS_SHOWN = 16,
    CYCLE_LIMIT = 1000000,
};

static void describe_units(struct machine *machine) {
    machine->port_count = PORTS;
    machine->ports = g_new0(struct machine_port, PORTS);
    for (unsigned p = 0; p < PORTS; p++)
        machine->ports[p] = (struct machine_port){.x = 0, .y = p + 1};
    machine->unit_count = BENCH_UNITS;
    machine->units = g_new0(struct machine_unit, BENCH_UNITS);
    for (unsigned u = 0; u < BENCH_UNITS; u++)
        machine->units[u] = (struct machine_unit){.kind = UNIT_CLUSTER,
                                                  .type = g_strdup("cluster"),
                                                  .name = g_strdup_printf("cluster%u", u),
                                                  .x = u % GRID + 1,
                                                  .y = u / GRID + 1,
                                                  .port = u / GRID};
}

static void describe_machine(struct machine *machine, const json_t *entry) {
    const char *memory = json_string_value(json_object_get(entry, "memory"));
    machine_init(machine);
    machine->name = g_strdup("recorded");
    machine->nx = machine->ny = GRID;
    machine->rtl_defects = true;
    machine->noc.fifo_depth = 32;
    machine->noc.arbiter_phase = json_integer_value(json_object_get(entry, "arbiter_phase"));
    machine->endpoint.inst_depth = 512;
    machine->endpoint.recv_depth = 64;
    machine->memory.attachment = g_strcmp0(memory, "converged") == 0 ? MEMORY_CONVERGED : MEMORY_PER_PORT;
    machine->memory.channel_bits = WORD_BITS;
    machine->memory.latency = 1;
    machine->memory.size = MEMORY_BYTES;
    machine->memory.fetch_transform = true;
    machine->memory.write_burst = 8;
    machine->memory.write_slots = 16;
    machine->cluster.tiles = 512;
    machine->cluster.l1_a = machine->cluster.l1_b = 512;
    machine->cluster.assembly = ASSEMBLY_REGISTER;
    describe_units(machine);
}

/* Random words whose four scale bytes are made plausible ones. */
static void fill_memory(struct replay_bench *bench) {
    uint64_t seed = replay_unhex(json_object_get(bench->entry, "memory_seed"));
    bench->initial = g_new0(struct word256, MEMORY_BYTES / WORD_BYTES);
    for (uint64_t w = 0; w < FILLED_WORDS; w++) {
        for (unsigned lane = 0; lane < 4; lane++)
            bench->initial[w].w[lane] = replay_mix(seed + 4 * w + lane);
        for (unsigned byte = 0; byte < SCALE_BYTES; byte++) {
            uint64_t b = word_get(&bench->initial[w], 8 * byte, 8);
            word_set(&bench->initial[w], 8 * byte, 8, (18 + (b >> 3 & 3)) << 3 | (b & 7));
        }
    }
    dram_load(&bench->system->dram, 0, bench->initial, MEMORY_BYTES);
}

static bool stage(struct replay_bench *bench, GError **error) {
    const json_t *staged = json_object_get(bench->entry, "staged_flits");
    for (size_t slot = 0; slot < json_array_size(staged); slot++) {
        const json_t *flit = json_array_get(staged, slot);
        const char *digits = json_string_value(json_array_get(flit, 0));
        struct word256 payload;
        if (!word_from_hex(digits ? digits : "", &payload, error))
            return false;
        dispatch_stage(&bench->system->agent.dispatch, slot, &payload, FLIT_CU_INST,
                       json_integer_value(json_array_get(flit, 1)), json_integer_value(json_array_get(flit, 2)));
    }
    return true;
}

/* ---- the host ---- */

static gint64 write_cycle(const struct replay_bench *bench) {
    return json_integer_value(json_array_get(json_array_get(bench->writes, bench->next_write), 0));
}

static void do_write(struct replay_bench *bench, cycle_t now) {
    const json_t *write = json_array_get(bench->writes, bench->next_write++);
    uint64_t address = replay_unhex(json_array_get(write, 1)), value = replay_unhex(json_array_get(write, 2));
    struct agent *agent = &bench->system->agent;
    if (address >= ENGINE_WINDOW)
        control_write(&agent->control, address, value, now);
    else
        dispatch_write(&agent->dispatch, address, value, now);
}

static cycle_t host_step(void *self, cycle_t now) {
    struct replay_bench *bench = self;
    struct agent *agent = &bench->system->agent;
    cycle_t due = CYCLE_NEVER;
    if (bench->next_write < json_array_size(bench->writes) && write_cycle(bench) == bench_cycle(now))
        do_write(bench, now);
    if (bench->next_write < json_array_size(bench->writes))
        due = write_cycle(bench) + BENCH_BACKDATE;
    if (bench->next_read < bench->reads->len) {
        struct bench_read *read = &g_array_index(bench->reads, struct bench_read, bench->next_read);
        /* the value with a data beat in t is that of t - 1 (§5.3) */
        if (read->cycle - 1 == bench_cycle(now)) {
            read->value = read->address >= ENGINE_WINDOW ? control_read(&agent->control, read->address)
                                                         : dispatch_read(&agent->dispatch, read->address, now);
            bench->next_read++;
        }
        if (bench->next_read < bench->reads->len)
            due = MIN(due, (cycle_t)(g_array_index(bench->reads, struct bench_read, bench->next_read).cycle - 1 +
                                     BENCH_BACKDATE));
    }
    return due;
}

/* ---- life ---- */

bool bench_open(struct replay_bench *bench, const json_t *entry, GError **error) {
    *bench = (struct replay_bench){.entry = entry, .reads = g_array_new(FALSE, TRUE, sizeof(struct bench_read))};
    describe_machine(&bench->machine, entry);
    bench->system = system_new(&bench->machine, error);
    if (!bench->system)
        return false;
    fill_memory(bench);
    return stage(bench, error);
}

void bench_close(struct replay_bench *bench) {
    system_free(bench->system);
    machine_clear(&bench->machine);
    g_free(bench->initial);
    g_array_unref(bench->reads);
}

bool bench_run(struct replay_bench *bench, gint64 until, GError **error) {
    struct system *system = bench->system;
    system->agent.host = (struct agent_host){.self = bench, .step = host_step, .due = 0};
    agent_wake(&system->agent, 0);
    for (cycle_t now = 0; now != CYCLE_NEVER; now = system_step(system, now)) {
        if (until >= 0 && bench_cycle(now) > until)
            return true;
        if (now > CYCLE_LIMIT) {
            g_set_error(error, FS_ERROR, FS_ERROR_INTERNAL, "the run does not end within %d cycles", CYCLE_LIMIT);
            return false;
        }
    }
    return true;
}

/* ---- what is left at the end ---- */

char *bench_place(unsigned x, unsigned y) {
    return g_strdup_printf("%u,%u", x, y);
}

json_t *bench_memory_tree(const struct replay_bench *bench) {
    const json_t *range = json_object_get(json_object_get(bench->entry, "final_memory"), "range");
    uint64_t from = replay_unhex(json_array_get(range, 0)), to = replay_unhex(json_array_get(range, 1)), hash = 0;
    unsigned changed = 0;
    json_t *words = json_object();
    for (uint64_t address = from; address < to; address += WORD_BYTES) {
        struct word256 word = dram_read(&bench->system->dram, address, NULL);
        for (unsigned lane = 0; lane < 4; lane++)
            hash = replay_hash(hash, word.w[lane]);
        if (memcmp(&word, &bench->initial[address / WORD_BYTES], sizeof word) == 0 || ++changed > WORDS_SHOWN)
            continue;
        char digits[WORD_HEX + 1];
        word_to_hex(&word, digits);
        g_autofree char *at = g_strdup_printf("%" G_GINT64_MODIFIER "x", address);
        json_object_set_new(words, at, json_string(digits));
    }
    json_t *tree =
        json_pack("{s:O,s:o,s:i}", "range", range, "hash", replay_hash_text(hash), "changed_words", (int)changed);
    if (changed <= WORDS_SHOWN && json_object_get(json_object_get(bench->entry, "final_memory"), "changed"))
        json_object_set(tree, "changed", words);
    json_decref(words);
    return tree;
}

/* The `quant-place` workload: an operand is fetched 1, 2, … N times by one cluster, with its conversion to int7+E5M3 by
 * the memory mover, before the upload, or on every fetch; bytes and cycles of each, and where they cross (workloads
 * §1.9). Every point is a run of its own on a fresh machine; the last one is the result's. */
#include <math.h>
#include <string.h>

#include "model/numeric/mxfp7.h"
#include "units/cluster/cluster.h"
#include "workloads/moves.h"
#include "workloads/run.h"

enum place {
    PLACE_UPLOAD,
    PLACE_FETCH,
    PLACE_MOVER, /* the last: the run that stays */
    PLACES,
};

enum {
    OPERAND = 0,
    HALVES = MXFP7_LANES * MXFP7_BLOCK,
    RAW_BYTES = HALVES * sizeof(uint16_t),
    CONVERTED_BYTES = MXFP7_WORDS * WORD_BYTES,
    PAGE = 4096,
    FILL_ENTRIES_MAX = 255,
    FETCHES_MAX = 64,
};

struct quant_params {
    unsigned entries, fetches;
};

#define KEY(member, value, min, max, unit, sentence)                                                                   \
    { #member, KEY_UINT, offsetof(struct quant_params, member), NULL, {value, value }, min, max, unit, sentence }

/* clang-format off */
static const struct config_key keys[] = {
    KEY(entries, 32, 1, 4096, "entries", "Size of the operand: 4 lanes of 32 elements an entry."),
    KEY(fetches, 6, 1, FETCHES_MAX, "fetches", "N: the operand is fetched 1 to N times."),
};
/* clang-format on */

static const struct {
    const char *bytes, *cycles;
} series_names[PLACES] = {[PLACE_UPLOAD] = {"quant.upload_bytes", "quant.upload_cycles"},
                          [PLACE_FETCH] = {"quant.fetch_bytes", "quant.fetch_cycles"},
                          [PLACE_MOVER] = {"quant.mover_bytes", "quant.mover_cycles"}};

struct quant {
    struct run *run; /* that stays */
    const struct quant_params *params;
    struct node node; /* of the cluster that fetches */
    unsigned unit;
    bool port_converts; /* what the machine's own memory.fetch_transform says */
    uint16_t (*raw)[MXFP7_LANES][MXFP7_BLOCK];
    struct mxfp7_entry *converted;
    uint64_t bytes[PLACES][FETCHES_MAX], cycles[PLACES][FETCHES_MAX];
    uint64_t mismatches; /* entries that stood wrongly in L1 */
};

/* ---- operand ---- */

static void make_operand(struct quant *quant) {
    uint64_t state = quant->run->seed;
    for (unsigned e = 0; e < quant->params->entries; e++) {
        for (unsigned i = 0; i < HALVES; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            quant->raw[e][i / MXFP7_BLOCK][i % MXFP7_BLOCK] = (state >> 48) & 0xBFFF; /* FP16 below 2 */
        }
        mxfp7_quantise(quant->raw[e], &quant->converted[e]);
    }
}

static uint64_t source_of(const struct quant *quant) {
    uint64_t end = OPERAND + (uint64_t)quant->params->entries * RAW_BYTES;
    return (end + PAGE - 1) / PAGE * PAGE;
}

static void load_operand(const struct quant *quant, struct dram *dram, enum place place) {
    if (place != PLACE_UPLOAD) {
        dram_load(dram, place == PLACE_FETCH ? OPERAND : source_of(quant), quant->raw,
                  (size_t)quant->params->entries * RAW_BYTES);
        return;
    }
    for (unsigned e = 0; e < quant->params->entries; e++) {
        struct word256 words[MXFP7_WORDS];
        mxfp7_pack(&quant->converted[e], MXFP7_ROWS, words);
        dram_load(dram, OPERAND + (uint64_t)e * CONVERTED_BYTES, words, sizeof words);
    }
}

/* ---- program ---- */

static unsigned fill_limit(const struct quant *quant) {
    return MIN(MIN(quant->run->machine->cluster.l1_a, BANK_ENTRIES), FILL_ENTRIES_MAX);
}

/* `fetches` times the whole operand, in fills as large as L1 takes. */
static GArray *list_fills(const struct quant *quant, enum place place, unsigned fetches) {
    GArray *list = g_array_new(FALSE, TRUE, sizeof(struct planned_inst));
    unsigned limit = fill_limit(quant), entries = quant->params->entries;
    unsigned bytes = place == PLACE_FETCH ? RAW_BYTES : CONVERTED_BYTES;
    for (unsigned f = 0; f < fetches; f++)
        for (unsigned e = 0; e < entries; e += limit) {
            struct planned_inst fill = {.inst = cluster_inst_default(CLUSTER_FILL)};
            fill.inst.addr = OPERAND + (uint64_t)e * bytes;
            fill.inst.n = (uint16_t)MIN(limit, entries - e);
            fill.inst.preq = quant->port_converts && place != PLACE_FETCH;
            g_array_append_val(list, fill);
        }
    return list;
}

static struct round_list *program_rounds(const struct quant *quant, GArray *fills, GError **error) {
    const struct machine *machine = quant->run->machine;
    struct gemm_pass pass = {.count = fills->len};
    struct cluster_plan cluster = {.insts = (struct planned_inst *)(void *)fills->data,
                                   .inst_count = fills->len,
                                   .passes = &pass,
                                   .pass_count = 1};
    struct gemm_plan plan = {.cluster_count = 1, .clusters = &cluster};
    struct round_options options;
    g_autoptr(GError) wrong = NULL;
    round_options_init(&options);
    options.staging_flits = machine->agent.staging_flits;
    options.commands = machine->agent.commands;
    options.credit = machine->endpoint.inst_depth;
    struct round_list *rounds = rounds_new(&plan, &quant->node, &options, &wrong);
    if (!rounds)
        workload_error(quant->run->workload, "fetches", error, "%s", wrong->message);
    return rounds;
}

static void add_conversion(const struct quant *quant, struct run *run, GArray *rounds) {
    static const struct move_geometry quantiser = {.in_beats = RAW_BYTES / WORD_BYTES, .out_words = MXFP7_WORDS};
    GArray *moves = moves_new();
    moves_convert(moves, source_of(quant), OPERAND, quant->params->entries, quantiser, 1, MXFP7_ROWS);
    run->mover_writes = move_rounds_append(rounds, moves, run->machine->agent.commands);
    g_array_unref(moves);
}

/* ---- one point ---- */

/* What the last fill of the run left in L1. */
static unsigned wrong_entries(const struct quant *quant, const struct run *run) {
    const struct cluster *cluster = run->system->endpoints[quant->unit].unit;
    unsigned limit = fill_limit(quant), entries = quant->params->entries, wrong = 0;
    unsigned first = (entries - 1) / limit * limit;
    for (unsigned e = first; e < entries; e++)
        wrong += memcmp(&cluster->store[0][e - first], &quant->converted[e], sizeof *quant->converted) != 0;
    return wrong;
}

static void count_writes(struct run *run, const struct round_list *list) {
    run->instructions = list->flits;
    run->rounds = list->count;
    run->commands = list->commands;
    run->host_writes = list->host_writes;
}

static bool measure(struct quant *quant, struct run *run, enum place place, unsigned fetches, GError **error) {
    GArray *fills = list_fills(quant, place, fetches);
    struct round_list *list = program_rounds(quant, fills, error);
    g_array_unref(fills);
    run->machine->memory.fetch_transform = quant->port_converts || place == PLACE_FETCH;
    bool fine = list && (run->system = system_new(run->machine, error));
    if (fine) {
        GArray *rounds = g_array_new(FALSE, FALSE, sizeof(struct round));
        run->system->hazards.strict = run->strict;
        load_operand(quant, &run->system->dram, place);
        if (place == PLACE_MOVER)
            add_conversion(quant, run, rounds);
        unsigned conversions = rounds->len;
        g_array_append_vals(rounds, list->rounds, list->count);
        count_writes(run, list);
        run_rounds(run, (const struct round *)(const void *)rounds->data, rounds->len, list->flits);
        for (unsigned r = 0; r < conversions; r++)
            move_round_clear(&g_array_index(rounds, struct round, r));
        g_array_unref(rounds);
        uint64_t uploaded = place == PLACE_UPLOAD ? (uint64_t)quant->params->entries * CONVERTED_BYTES : 0;
        quant->bytes[place][fetches - 1] = uploaded + (run->system->dram.reads + run->system->dram.writes) * WORD_BYTES;
        quant->cycles[place][fetches - 1] = run->cycles;
        quant->mismatches += run->dead ? 0 : wrong_entries(quant, run);
    }
    rounds_free(list);
    run->machine->memory.fetch_transform = quant->port_converts;
    return fine;
}

/* A point whose machine is not kept, unless it stopped: then it is run again to stay. */
static bool measure_aside(struct quant *quant, enum place place, unsigned fetches, GError **error) {
    struct run aside;
    run_init(&aside, quant->run->machine, quant->run->workload);
    aside.seed = quant->run->seed;
    aside.strict = quant->run->strict;
    bool fine = measure(quant, &aside, place, fetches, error), dead = aside.dead;
    run_clear(&aside);
    return fine && (!dead || measure(quant, quant->run, place, fetches, error));
}

static bool sweep(struct quant *quant, GError **error) {
    unsigned last = quant->params->fetches;
    for (unsigned fetches = 1; fetches <= last; fetches++)
        for (unsigned place = 0; place < PLACES && !quant->run->dead; place++) {
            bool stays = fetches == last && place == PLACE_MOVER;
            if (!(stays ? measure(quant, quant->run, place, fetches, error)
                        : measure_aside(quant, place, fetches, error)))
                return false;
        }
    return true;
}

/* ---- result ---- */

/* First number of fetches at which the place costs no more than converting on the fetch (or less, if `less`). */
static double crossing(const struct quant *quant, uint64_t figures[PLACES][FETCHES_MAX], enum place place, bool less) {
    for (unsigned i = 0; i < quant->params->fetches; i++)
        if (figures[place][i] + less <= figures[PLACE_FETCH][i])
            return i + 1;
    return NAN;
}

static void note(struct quant *quant) {
    struct run *run = quant->run;
    unsigned count = quant->params->fetches;
    uint64_t fetches[FETCHES_MAX];
    for (unsigned i = 0; i < count; i++)
        fetches[i] = i + 1;
    run_add_count(run, "quant.entries", quant->params->entries);
    run_add_series(run, "quant.fetches", fetches, count);
    for (unsigned place = 0; place < PLACES; place++) {
        run_add_series(run, series_names[place].bytes, quant->bytes[place], count);
        run_add_series(run, series_names[place].cycles, quant->cycles[place], count);
    }
    run_add_number(run, "quant.mover_bytes_equal_at", crossing(quant, quant->bytes, PLACE_MOVER, false));
    run_add_number(run, "quant.mover_bytes_less_at", crossing(quant, quant->bytes, PLACE_MOVER, true));
    run_add_number(run, "quant.mover_cycles_less_at", crossing(quant, quant->cycles, PLACE_MOVER, true));
    run_add_number(run, "quant.upload_bytes_less_at", crossing(quant, quant->bytes, PLACE_UPLOAD, true));
    run_add_count(run, "quant.mismatches", quant->mismatches);
    run->answer_wrong = quant->mismatches > 0;
}

static bool find_cluster(struct quant *quant, GError **error) {
    const struct machine *machine = quant->run->machine;
    for (unsigned u = 0; u < machine->unit_count; u++)
        if (machine->units[u].kind == UNIT_CLUSTER) {
            quant->unit = u;
            quant->node = (struct node){machine->units[u].x, machine->units[u].y};
            return true;
        }
    return workload_error(quant->run->workload, "entries", error,
                          "needs a matmul cluster, expected a machine with one");
}

static bool quant_run(struct run *run, GError **error) {
    struct quant quant = {
        .run = run, .params = run->workload->params, .port_converts = run->machine->memory.fetch_transform};
    quant.raw = g_malloc0((size_t)quant.params->entries * sizeof *quant.raw);
    quant.converted = g_new0(struct mxfp7_entry, quant.params->entries);
    bool fine = find_cluster(&quant, error);
    if (fine) {
        make_operand(&quant);
        fine = sweep(&quant, error);
    }
    if (fine)
        note(&quant);
    g_free(quant.raw);
    g_free(quant.converted);
    return fine;
}

const struct workload_type workload_quant_place = {
    .id = "quant-place",
    .sentence =
        "Where to convert an operand that is fetched 1 to N times: bytes and cycles by mover, before the upload "
        "and on the fetch.",
    .keys = keys,
    .key_count = G_N_ELEMENTS(keys),
    .params_size = sizeof(struct quant_params),
    .run = quant_run,
};

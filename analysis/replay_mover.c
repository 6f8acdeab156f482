/* Replay of mover recordings; see replay_mover.h. What happens is gathered in the shape of the recording, so that the
 * comparison is a walk over two trees. */
#include "analysis/replay_mover.h"

#include <string.h>

#include "memory/dram.h"
#include "memory/mover.h"
#include "memory/path.h"
#include "model/error.h"

enum {
    BENCH_MEMORY = 1 << 20, /* description, "memory" */
    BENCH_LATENCY = 1,      /* description, "attachments": 1-cycle RAM */
    BENCH_REQUESTERS = 3,   /* the mover is the last one, the others are silent */
    BURSTS_SHOWN = 20,      /* "first": the first twenty */
    WORDS_SHOWN = 16,       /* "changed": at most 16 */
    CYCLE_LIMIT = 2000000,  /* a run that lasts longer hangs */
    WORD_DIGITS = 64,
    WORD_LANES = 4,
};

#define HASH_FACTOR UINT64_C(1099511628211)

static const struct {
    const char *name;
    enum memory_attachment attachment;
    unsigned requesters;
} attachments[] = {{"per-port", MEMORY_PER_PORT, 1}, {"converged", MEMORY_CONVERGED, BENCH_REQUESTERS}};

/* ---- the bench ---- */

struct beats {
    uint64_t count, hash;
    gint64 first, last;
};

struct bursts {
    uint64_t count, words, order_hash, timed_hash;
    json_t *first;
    gint64 last_cycle;
    uint64_t last_address;
    unsigned last_words;
};

struct bench {
    struct machine machine;
    struct hazard_log hazards;
    struct transform_bank *bank;
    struct dram dram;
    struct mover mover;
    struct mem_requester silent[BENCH_REQUESTERS - 1];
    struct mem_path *path;
    uint64_t seed;
    gint64 origin; /* recorded cycle of our cycle 0 */
    struct word256 *initial;
    /* Gathered. */
    struct bursts reads, writes;
    struct beats read_beats, write_beats, responses;
    json_t *busy, *faults, *moves;
    bool was_busy;
    enum mover_fault old_fault;
    uint64_t old_moves;
};

static struct machine bench_machine(enum memory_attachment attachment) {
    return (struct machine){
        .rtl_defects = true,
        .noc = {.fall_through = 3, .fifo_extra = 2},
        .memory = {.attachment = attachment,
                   .latency = BENCH_LATENCY,
                   .channel_bits = WORD_BITS,
                   .size = BENCH_MEMORY,
                   .crossing = 8,
                   .address_queue = 16,
                   .write_queue = 64,
                   .read_queue = 64,
                   .response_queue = 16},
        .mover = {.index_words = 256,
                  .fifo_depth = 512,
                  .command_depth = 128,
                  .max_reads = 16,
                  .max_writes = 32,
                  .burst_max = 128},
    };
}

/* description, "memory" */
static uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static struct word256 word_of_digits(const char *digits) {
    struct word256 word = {{0}};
    for (unsigned i = 0; i < WORD_DIGITS && digits[i]; i++)
        word.w[WORD_LANES - 1 - i / 16] =
            word.w[WORD_LANES - 1 - i / 16] << 4 | (unsigned)g_ascii_xdigit_value(digits[i]);
    return word;
}

static void fill_memory(struct bench *bench, const json_t *patch) {
    bench->initial = g_new(struct word256, BENCH_MEMORY / WORD_BYTES);
    for (uint64_t w = 0; w < BENCH_MEMORY / WORD_BYTES; w++)
        for (unsigned lane = 0; lane < WORD_LANES; lane++)
            bench->initial[w].w[lane] = mix(bench->seed + WORD_LANES * w + lane);
    const char *address;
    json_t *value;
    json_object_foreach((json_t *)patch, address, value) {
        uint64_t at = g_ascii_strtoull(address, NULL, 16) % BENCH_MEMORY;
        bench->initial[at / WORD_BYTES] = word_of_digits(json_string_value(value));
    }
    dram_load(&bench->dram, 0, bench->initial, BENCH_MEMORY);
}

static void bench_init(struct bench *bench, unsigned which, const json_t *entry, gint64 origin) {
    struct mem_requester *requesters[BENCH_REQUESTERS];
    unsigned count = attachments[which].requesters;
    *bench = (struct bench){.machine = bench_machine(attachments[which].attachment), .origin = origin};
    hazard_log_init(&bench->hazards);
    bench->bank = transform_bank_new(NULL, 0, &bench->hazards, NULL);
    dram_init(&bench->dram, BENCH_MEMORY);
    bench->seed = g_ascii_strtoull(json_string_value(json_object_get(entry, "memory_seed")), NULL, 16);
    fill_memory(bench, json_object_get(entry, "memory_patch"));
    mover_init(&bench->mover, &bench->machine, 0, bench->bank, &bench->hazards);
    for (unsigned r = 0; r + 1 < count; r++)
        requesters[r] = &bench->silent[r];
    requesters[count - 1] = &bench->mover.port;
    bench->path = path_new(&bench->machine, &bench->dram, requesters, count);
    bench->reads.first = json_array();
    bench->writes.first = json_array();
    bench->busy = json_array();
    bench->faults = json_array();
    bench->moves = json_array();
}

static void bench_clear(struct bench *bench) {
    path_free(bench->path);
    mover_clear(&bench->mover);
    dram_clear(&bench->dram);
    transform_bank_free(bench->bank);
    hazard_log_clear(&bench->hazards);
    g_free(bench->initial);
    json_decref(bench->reads.first);
    json_decref(bench->writes.first);
    json_decref(bench->busy);
    json_decref(bench->faults);
    json_decref(bench->moves);
}

/* ---- gathering ---- */

static void note_burst(struct bursts *bursts, uint64_t address, unsigned words, gint64 cycle) {
    uint64_t v = address * 256 + words;
    bursts->count++;
    bursts->words += words;
    bursts->order_hash = bursts->order_hash * HASH_FACTOR + v;
    bursts->timed_hash = bursts->timed_hash * HASH_FACTOR + v + ((uint64_t)cycle << 48);
    bursts->last_cycle = cycle;
    bursts->last_address = address;
    bursts->last_words = words;
    if (bursts->count <= BURSTS_SHOWN) {
        g_autofree char *digits = g_strdup_printf("%" G_GINT64_MODIFIER "x", address);
        json_array_append_new(bursts->first, json_pack("[I,s,i]", (json_int_t)cycle, digits, (int)words));
    }
}

static void note_beat(struct beats *beats, gint64 cycle) {
    if (!beats->count++)
        beats->first = cycle;
    beats->last = cycle;
    beats->hash = beats->hash * HASH_FACTOR + (uint64_t)cycle;
}

/* What happened on the mover's channel in this cycle. */
static void note_channel(struct bench *bench, gint64 cycle) {
    const struct mem_requester *port = &bench->mover.port;
    if (port->read_accepted)
        note_burst(&bench->reads, port->read_address, port->read_words, cycle);
    if (port->write_accepted)
        note_burst(&bench->writes, port->write_address, port->write_words, cycle);
    if (port->word_returned)
        note_beat(&bench->read_beats, cycle);
    if (port->data_accepted)
        note_beat(&bench->write_beats, cycle);
    if (port->response)
        note_beat(&bench->responses, cycle);
}

/* What the mover shows from `cycle` on. */
static void note_state(struct bench *bench, gint64 cycle) {
    const struct mover *mover = &bench->mover;
    if (mover_busy(mover) && !bench->was_busy)
        json_array_append_new(bench->busy, json_pack("[I]", (json_int_t)cycle));
    else if (!mover_busy(mover) && bench->was_busy)
        json_array_append_new(json_array_get(bench->busy, json_array_size(bench->busy) - 1), json_integer(cycle));
    if (mover->fault != bench->old_fault)
        json_array_append_new(bench->faults, json_pack("[I,i]", (json_int_t)cycle, (int)mover->fault));
    if (mover->moves_done != bench->old_moves)
        json_array_append_new(bench->moves, json_pack("[I,I]", (json_int_t)cycle, (json_int_t)mover->moves_done));
    bench->was_busy = mover_busy(mover);
    bench->old_fault = mover->fault;
    bench->old_moves = mover->moves_done;
}

static json_t *hash_text(uint64_t hash) {
    g_autofree char *digits = g_strdup_printf("%016" G_GINT64_MODIFIER "x", hash);
    return json_string(digits);
}

static json_t *bursts_tree(const struct bursts *bursts) {
    json_t *tree = json_pack("{s:I,s:I,s:O,s:o,s:o}", "bursts", (json_int_t)bursts->count, "words",
                             (json_int_t)bursts->words, "first", bursts->first, "order_hash",
                             hash_text(bursts->order_hash), "timed_hash", hash_text(bursts->timed_hash));
    g_autofree char *digits = g_strdup_printf("%" G_GINT64_MODIFIER "x", bursts->last_address);
    if (bursts->count)
        json_object_set_new(tree, "last",
                            json_pack("[I,s,i]", (json_int_t)bursts->last_cycle, digits, (int)bursts->last_words));
    return tree;
}

static json_t *beats_tree(const struct beats *beats) {
    if (!beats->count)
        return json_pack("{s:i}", "count", 0);
    return json_pack("{s:I,s:I,s:I,s:o}", "count", (json_int_t)beats->count, "first", (json_int_t)beats->first, "last",
                     (json_int_t)beats->last, "timed_hash", hash_text(beats->hash));
}

static json_t *memory_tree(struct bench *bench) {
    uint64_t hash = 0;
    unsigned changed = 0;
    json_t *words = json_object();
    for (uint64_t w = 0; w < BENCH_MEMORY / WORD_BYTES; w++) {
        struct word256 word = dram_read(&bench->dram, w * WORD_BYTES, NULL);
        for (unsigned lane = 0; lane < WORD_LANES; lane++)
            hash = hash * HASH_FACTOR + word.w[lane];
        if (memcmp(&word, &bench->initial[w], sizeof word) == 0 || ++changed > WORDS_SHOWN)
            continue;
        g_autofree char *at = g_strdup_printf("%" G_GINT64_MODIFIER "x", w * WORD_BYTES);
        g_autofree char *digits = g_strdup_printf("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER
                                                  "x%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x",
                                                  word.w[3], word.w[2], word.w[1], word.w[0]);
        json_object_set_new(words, at, json_string(digits));
    }
    json_t *tree = json_pack("{s:o,s:i}", "hash", hash_text(hash), "changed_words", (int)changed);
    if (changed <= WORDS_SHOWN)
        json_object_set(tree, "changed", words);
    json_decref(words);
    return tree;
}

static json_t *bench_tree(struct bench *bench) {
    return json_pack("{s:O,s:O,s:O,s:o,s:o,s:o,s:o,s:o,s:o}", "busy", bench->busy, "fault_register", bench->faults,
                     "moves_done", bench->moves, "reads", bursts_tree(&bench->reads), "writes",
                     bursts_tree(&bench->writes), "read_beats", beats_tree(&bench->read_beats), "write_beats",
                     beats_tree(&bench->write_beats), "write_responses", beats_tree(&bench->responses), "final",
                     memory_tree(bench));
}

/* ---- the run ---- */

static gint64 write_cycle(const json_t *writes, size_t i) {
    return json_integer_value(json_array_get(json_array_get(writes, i), 0));
}

static uint64_t write_field(const json_t *writes, size_t i, size_t field) {
    return g_ascii_strtoull(json_string_value(json_array_get(json_array_get(writes, i), field)), NULL, 16);
}

static bool bench_run(struct bench *bench, const json_t *writes, GError **error) {
    size_t next = 0, count = json_array_size(writes);
    for (cycle_t now = 0; now < CYCLE_LIMIT; now++) {
        gint64 cycle = (gint64)now + bench->origin;
        bool moving = path_step(bench->path, now);
        note_channel(bench, cycle);
        if (next < count && write_cycle(writes, next) == cycle) {
            mover_write(&bench->mover, (unsigned)write_field(writes, next, 1), write_field(writes, next, 2), now);
            next++;
        }
        cycle_t again = mover_step(&bench->mover, now);
        note_state(bench, cycle + 1);
        if (next == count && !moving && again == CYCLE_NEVER)
            return true;
    }
    g_set_error(error, FS_ERROR, FS_ERROR_INTERNAL, "the mover is not idle after %d cycles", CYCLE_LIMIT);
    return false;
}

/* ---- comparison ---- */

static void compare(struct replay_result *out, const char *what, const json_t *reference, const json_t *ours) {
    const char *key;
    json_t *value;
    if (json_is_object(reference) && json_is_object(ours) && json_object_size(reference)) {
        json_object_foreach((json_t *)reference, key, value) {
            g_autofree char *path = g_strconcat(what, ".", key, NULL);
            compare(out, path, value, json_object_get(ours, key));
        }
    } else if (json_is_integer(reference) && json_is_integer(ours)) {
        replay_add_number(out, what, json_integer_value(reference), json_integer_value(ours));
    } else {
        char *a = json_dumps(reference, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
        char *b = ours ? json_dumps(ours, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
        replay_add_text(out, what, a, b ? b : "nothing");
        free(a);
        free(b);
    }
}

static bool entry_fits(const json_t *entry, GError **error) {
    const json_t *writes = json_object_get(entry, "register_writes");
    bool fits = json_is_string(json_object_get(entry, "memory_seed")) && json_array_size(writes) > 0;
    for (size_t i = 0; fits && i < json_array_size(writes); i++) {
        const json_t *write = json_array_get(writes, i);
        fits = json_is_integer(json_array_get(write, 0)) && json_is_string(json_array_get(write, 1)) &&
               json_is_string(json_array_get(write, 2)) &&
               (i == 0 || write_cycle(writes, i) > write_cycle(writes, i - 1));
    }
    if (!fits)
        g_set_error(
            error, FS_ERROR, FS_ERROR_INPUT,
            "a mover run needs memory_seed and register_writes, a list of [cycle, offset, value] in rising order");
    return fits;
}

bool replay_mover(const json_t *entry, const json_t *description, struct replay_result *out, GError **error) {
    if (!entry_fits(entry, error))
        return false;
    const json_t *writes = json_object_get(entry, "register_writes");
    const json_t *listed = json_object_get(description, "attachments");
    gint64 origin = write_cycle(writes, 0);
    for (unsigned which = 0; which < G_N_ELEMENTS(attachments); which++) {
        const char *name = attachments[which].name;
        const json_t *reference = json_object_get(entry, name);
        if (!json_object_get(listed, name) || !reference)
            continue;
        struct bench bench;
        bench_init(&bench, which, entry, origin);
        bool ended = bench_run(&bench, writes, error);
        if (ended) {
            json_t *ours = bench_tree(&bench);
            compare(out, name, reference, ours);
            json_decref(ours);
        }
        bench_clear(&bench);
        if (!ended)
            return false;
    }
    return true;
}

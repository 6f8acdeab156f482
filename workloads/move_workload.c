/* The `move` workload: one job of the memory mover on a machine, through the control program, every byte checked. */
#include <string.h>

#include "memory/mover.h"
#include "memory/stage.h"
#include "workloads/move_model.h"
#include "workloads/moves.h"
#include "workloads/run.h"

enum {
    PAGE_BYTES = DRAM_PAGE_WORDS * WORD_BYTES,
    COUNT_MAX = 65535,
    IMAGE_MAX = 4096,
    SPECIAL_BIT = 39,
    APERTURE_BITS = 32,
};

struct move_params {
    struct move_shape shape;
    bool coalesce;
    unsigned burst;
    uint64_t source, destination;
};

static const char *const kind_names[] = {"copy",     "transpose", "im2col",  "pad",     "gather",
                                         "generate", "fill",      "convert", "reshard", NULL};

static const char *const fault_names[] = {"none",          "gather index count", "not whole entries", "bus",     "mode",
                                          "element width", "alignment",          "bound axis",        "occupant"};

#define KEY(name, member, type, names, value, min, max, unit, sentence)                                                \
    { name, type, offsetof(struct move_params, member), names, {value, value}, min, max, unit, sentence }
#define SHAPE(member, value, min, max, unit, sentence)                                                                 \
    KEY(#member, shape.member, KEY_UINT, NULL, value, min, max, unit, sentence)

/* clang-format off */
static const struct config_key keys[] = {
    KEY("kind", shape.kind, KEY_ENUM, kind_names, MOVE_COPY, 0, 0, "", "What the mover does."),
    SHAPE(words, 256, 1, 16777216, "words", "Length of a copy, generate or fill."),
    SHAPE(rows, 16, 1, COUNT_MAX, "rows", "Rows of the matrix of a transpose or reshard; rows gathered."),
    SHAPE(columns, 16, 1, COUNT_MAX, "columns", "Columns of the matrix of a transpose or reshard."),
    SHAPE(element, 1, 1, COUNT_MAX, "words", "An element of the matrix, a pixel of the image, a row of the gather's table."),
    SHAPE(parts, 4, 1, COUNT_MAX, "blocks", "Column blocks of a reshard."),
    SHAPE(image_height, 8, 1, IMAGE_MAX, "pixels", "Image of im2col and pad."),
    SHAPE(image_width, 8, 1, IMAGE_MAX, "pixels", "Image of im2col and pad."),
    SHAPE(window, 3, 1, IMAGE_MAX, "pixels", "Side of the im2col window."),
    SHAPE(stride, 1, 1, IMAGE_MAX, "pixels", "Step of the im2col window, both ways."),
    SHAPE(pad, 1, 0, IMAGE_MAX, "pixels", "Border of fill words around the image, im2col and pad."),
    SHAPE(table, 64, 1, COUNT_MAX, "rows", "Rows of the table that a gather picks from."),
    SHAPE(pitch, 0, 0, 2147483647, "bytes", "From one row of the table to the next; 0: one behind the other."),
    SHAPE(entries, 32, 1, 1048576, "entries", "Entries that a convert takes through the transform slot."),
    SHAPE(id, 1, 0, TRANSFORM_SLOTS, "", "XFORM_ID of a convert: 0 the bypass, 1 up the machine's memory.occupants."),
    SHAPE(mode, 0, 0, 15, "", "XFORM_MODE of a convert; of the quantiser 0 packs for the A side, 1 for B."),
    SHAPE(width, 1, 0, 3, "", "Element width of the fill word: 0 a byte, 1 two, 2 four; 3 raises fault 5."),
    KEY("immediate", shape.immediate, KEY_UINT, NULL, 0, 0, 4294967295.0, "", "The fill word's element, of fill, im2col and pad."),
    KEY("generator", shape.seed, KEY_UINT64, NULL, 0, 0, 9007199254740992.0, "", "Seed of a generate; 0: the run's."),
    KEY("coalesce", coalesce, KEY_BOOL, NULL, 1, 0, 1, "", "Flag bit 3: collect consecutive words into write bursts."),
    KEY("burst", burst, KEY_UINT, NULL, 0, 0, 7, "", "Burst cap, flag bits 7:5: 0 for 128 words, v for 2^(v-1)."),
    KEY("source", source, KEY_UINT64, NULL, 0, 0, 1099511627775.0, "bytes", "Address of the source."),
    KEY("destination", destination, KEY_UINT64, NULL, 0, 0, 1099511627775.0, "bytes", "Address of the destination; 0: a page behind the source."),
};
/* clang-format on */

struct mover_job {
    struct run *run;
    const struct move_params *params;
    struct move_job job;
    GArray *moves, *rounds;
    uint64_t moves_scheduled;
    /* What memory has to hold outside the destination. */
    struct dram before;
    struct stage *stage_before;
    uint64_t mismatches, outside; /* words */
};

static void move_clear(struct mover_job *move) {
    for (guint r = 0; move->rounds && r < move->rounds->len; r++)
        move_round_clear(&g_array_index(move->rounds, struct round, r));
    if (move->rounds)
        g_array_unref(move->rounds);
    if (move->moves)
        g_array_unref(move->moves);
    g_free(move->job.source_bytes);
    g_free(move->job.index_list);
    g_free(move->job.answer);
    dram_clear(&move->before);
    stage_free(move->stage_before);
}

/* ---- where things stand ---- */

static uint64_t next_page(uint64_t address) {
    return (address + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/* Whether [address, address + size) lies inside one memory of the machine. */
static bool lies_inside(const struct machine *machine, uint64_t address, uint64_t size) {
    uint64_t staged = (uint64_t)machine->memory.staging_entries * STAGE_ENTRY_WORDS * WORD_BYTES;
    if (!(address >> SPECIAL_BIT))
        return address + size <= machine->memory.size;
    return machine->memory.staging == STAGING_CONVERGED &&
           (address & ~bit_mask(APERTURE_BITS)) == UINT64_C(1) << SPECIAL_BIT &&
           (address & bit_mask(APERTURE_BITS)) + size <= staged;
}

static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size) {
    return a < b + b_size && b < a + a_size;
}

static bool place(struct mover_job *move, GError **error) {
    struct move_job *job = &move->job;
    const struct machine *machine = move->run->machine;
    const struct workload *workload = move->run->workload;
    uint64_t source = move_source_bytes(&job->shape), indexes = move_index_bytes(&job->shape);
    uint64_t destination = move_destination_bytes(&job->shape);
    static const char inside[] = "takes bytes that are not there, expected a place inside memory.size, or inside the "
                                 "staging store at 0x8000000000 where memory.staging=converged";
    job->source = move->params->source;
    job->indexes = next_page(job->source + source);
    job->destination = move->params->destination;
    if (!job->destination)
        job->destination = next_page(job->indexes + indexes) + PAGE_BYTES;
    if (!lies_inside(machine, job->source, source) || (indexes && !lies_inside(machine, job->indexes, indexes)))
        return workload_error(workload, "source", error, "%s", inside);
    if (!lies_inside(machine, job->destination, destination))
        return workload_error(workload, "destination", error, "%s", inside);
    if (overlap(job->source, source, job->destination, destination) ||
        overlap(job->indexes, indexes, job->destination, destination))
        return workload_error(workload, "destination", error, "overlaps the source, expected a place of its own");
    return true;
}

static bool take_shape(struct mover_job *move, GError **error) {
    const struct run *run = move->run;
    struct move_shape *shape = &move->job.shape;
    const struct transform_occupant *slots[TRANSFORM_SLOTS] = {NULL};
    unsigned count;
    const char *key;
    *shape = move->params->shape;
    if (!shape->pitch)
        shape->pitch = shape->element * WORD_BYTES;
    if (!shape->seed)
        shape->seed = run->seed;
    if (!system_occupants(run->machine, slots, &count, error))
        return false;
    shape->occupant = !count || !shape->id ? &transform_identity : slots[shape->id - 1];
    const char *wrong = move_shape_wrong(shape, &key);
    return !wrong || workload_error(run->workload, key, error, "%s", wrong);
}

/* ---- memory ---- */

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint8_t *random_bytes(uint64_t size, uint64_t mask, uint64_t *state) {
    uint64_t count = (size + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    uint64_t *words = g_new0(uint64_t, count + 1);
    for (uint64_t i = 0; i < count; i++)
        words[i] = next_random(state) & mask;
    return (uint8_t *)words;
}

/* Into the machine's memory and into the picture of it. */
static void load(struct mover_job *move, uint64_t address, const void *bytes, uint64_t size) {
    struct system *system = move->run->system;
    struct stage *stage = path_stage(system->agent.path);
    if (stage && stage_claims(stage, address)) {
        stage_load(stage, address & bit_mask(APERTURE_BITS), bytes, size);
        stage_load(move->stage_before, address & bit_mask(APERTURE_BITS), bytes, size);
    } else {
        dram_load(&system->dram, address, bytes, size);
        dram_load(&move->before, address, bytes, size);
    }
}

/* Source and indexes, and other words where the answer will be and around it. */
static void prepare(struct mover_job *move) {
    struct move_job *job = &move->job;
    const struct machine *machine = move->run->machine;
    uint64_t state = move->run->seed, size = move_source_bytes(&job->shape);
    uint64_t finite = job->shape.kind == MOVE_CONVERT ? UINT64_C(0xBFFFBFFFBFFFBFFF) : UINT64_MAX; /* as FP16 below 2 */
    uint64_t destination = move_destination_bytes(&job->shape);
    uint64_t from = job->destination >> SPECIAL_BIT || job->destination < PAGE_BYTES ? job->destination
                                                                                     : job->destination - PAGE_BYTES;
    uint64_t around = next_page(job->destination + destination) + PAGE_BYTES - from;
    if (!lies_inside(machine, from, around))
        around = job->destination + destination - from;
    dram_init(&move->before, machine->memory.size);
    if (path_stage(move->run->system->agent.path))
        move->stage_before = stage_new(&machine->memory, 0);
    g_autofree uint8_t *noise = random_bytes(around, UINT64_MAX, &state);
    load(move, from, noise, around);
    job->source_bytes = random_bytes(size, finite, &state);
    load(move, job->source, job->source_bytes, size);
    if (job->shape.kind == MOVE_GATHER) {
        job->index_list = g_malloc0(move_index_bytes(&job->shape));
        for (unsigned r = 0; r < job->shape.rows; r++)
            job->index_list[r] = (uint32_t)(next_random(&state) % job->shape.table);
        load(move, job->indexes, job->index_list, move_index_bytes(&job->shape));
    }
    job->answer = g_malloc0(destination);
    move_job_answer(job);
}

/* ---- answer ---- */

/* Compares `count` words of memory that begin at `address`: with the answer inside the destination, else with what was
 * there before. */
static void grade_words(struct mover_job *move, uint64_t address, const void *now, const void *before, uint64_t count) {
    const struct move_job *job = &move->job;
    bool aligned = job->destination % WORD_BYTES == 0; /* else nothing may have been written at all */
    uint64_t size = aligned ? move_destination_bytes(&job->shape) : 0;
    for (uint64_t w = 0; w < count; w++, address += WORD_BYTES) {
        const uint8_t *word = (const uint8_t *)now + w * WORD_BYTES;
        bool mine = address - job->destination < size;
        const uint8_t *wanted =
            mine ? job->answer + (address - job->destination) : (const uint8_t *)before + w * WORD_BYTES;
        if (memcmp(word, wanted, WORD_BYTES) == 0)
            continue;
        if (mine)
            move->mismatches++;
        else
            move->outside++;
    }
}

/* Every word that memory holds. */
static void take_answer(struct mover_job *move) {
    struct system *system = move->run->system;
    struct stage *stage = path_stage(system->agent.path);
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, system->dram.pages);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        uint8_t before[PAGE_BYTES];
        uint64_t address = *(uint64_t *)key * PAGE_BYTES;
        dram_store(&move->before, address, before, sizeof before);
        grade_words(move, address, ((struct dram_page *)value)->words, before, DRAM_PAGE_WORDS);
    }
    if (stage)
        grade_words(move, UINT64_C(1) << SPECIAL_BIT, stage->words, move->stage_before->words, stage->count);
    if (move->job.destination % WORD_BYTES)
        move->mismatches = move_destination_bytes(&move->job.shape) / WORD_BYTES;
    const struct mover *mover = &system->mover;
    move->run->answer_wrong = move->mismatches || move->outside || mover->moves_done < move->moves_scheduled;
}

static void note(struct mover_job *move) {
    struct run *run = move->run;
    const struct mover *mover = &run->system->mover;
    uint64_t words = move_destination_bytes(&move->job.shape) / WORD_BYTES;
    bool faulted = mover->moves_done < move->moves_scheduled;
    run_add_text(run, "move.kind", kind_names[move->job.shape.kind]);
    run_add_count(run, "move.words", words);
    run_add_count(run, "move.moves", move->moves_scheduled);
    run_add_count(run, "move.moves_done", mover->moves_done);
    run_add_count(run, "move.cycles", mover->busy_cycles);
    run_add_number(run, "move.cycles_per_word", (double)mover->busy_cycles / (double)words);
    run_add_count(run, "move.read_bursts", mover->read_bursts);
    run_add_count(run, "move.read_bytes", mover->words_read * WORD_BYTES);
    run_add_count(run, "move.write_bursts", mover->write_bursts);
    run_add_count(run, "move.write_bytes", mover->words_written * WORD_BYTES);
    run_add_count(run, "move.fault", faulted ? mover->fault : 0);
    run_add_text(run, "move.fault_name", fault_names[faulted ? mover->fault : 0]);
    run_add_count(run, "move.mismatches", move->mismatches);
    run_add_count(run, "move.changed_outside", move->outside);
}

/* ---- the run ---- */

static void schedule(struct mover_job *move) {
    struct run *run = move->run;
    const struct move_options options = {
        .coalesce = move->params->coalesce, .burst_code = move->params->burst, .width = move->job.shape.width};
    move->moves = moves_new();
    move_job_schedule(&move->job, move->moves);
    moves_set_options(move->moves, &options);
    move->moves_scheduled = move->moves->len;
    move->rounds = g_array_new(FALSE, FALSE, sizeof(struct round));
    run->mover_writes = move_rounds_append(move->rounds, move->moves, run->machine->agent.commands);
    run->rounds = move->rounds->len;
    for (guint r = 0; r < move->rounds->len; r++) {
        const struct round *round = &g_array_index(move->rounds, struct round, r);
        run->commands += round->command_count;
        run->host_writes += round_host_writes(round);
    }
}

static bool move_run(struct run *run, GError **error) {
    struct mover_job move = {.run = run, .params = run->workload->params};
    if (!run->machine->port_count)
        return workload_error(run->workload, "kind", error, "needs a memory port, expected a machine with one");
    bool fine = take_shape(&move, error) && place(&move, error) && (run->system = system_new(run->machine, error));
    if (fine) {
        run->system->hazards.strict = run->strict;
        prepare(&move);
        schedule(&move);
        run_rounds(run, (const struct round *)(const void *)move.rounds->data, move.rounds->len, 0);
        take_answer(&move);
        note(&move);
    }
    move_clear(&move);
    return fine;
}

const struct workload_type workload_move = {
    .id = "move",
    .sentence = "One job of the memory mover: copies, transposes, windows, gathers, fills and conversions, checked.",
    .keys = keys,
    .key_count = G_N_ELEMENTS(keys),
    .params_size = sizeof(struct move_params),
    .bare_key = "kind",
    .run = move_run,
};

/* Collecting cycles a word; see profile.h. Every core has its own figures, because groups of the machine may be stepped
 * by different threads. */
#include "workloads/profile.h"

#include <string.h>

#include "model/isa/vector.h"
#include "units/vector/core.h"

enum {
    IMAGE_BYTES = VECTOR_IMEM_WORDS * sizeof(uint32_t),
};

struct profile_core {
    const struct endpoint *endpoint;
    GArray *images; /* of struct profile_image */
    guint image;    /* that runs, or ran last */
    bool running;
    cycle_t offered, executed;
    unsigned pc;
    bool started; /* a word was executed since the offer */
};

static void image_clear(void *data) {
    struct profile_image *image = data;
    g_free(image->words);
    g_free(image->executed);
    g_free(image->spent);
}

static GArray *images_new(void) {
    GArray *images = g_array_new(FALSE, TRUE, sizeof(struct profile_image));
    g_array_set_clear_func(images, image_clear);
    return images;
}

/* The image with these words, a new one if there is none. */
static guint find_image(GArray *images, const uint32_t *words) {
    for (guint i = 0; i < images->len; i++)
        if (memcmp(g_array_index(images, struct profile_image, i).words, words, IMAGE_BYTES) == 0)
            return i;
    struct profile_image image = {.words = g_memdup2(words, IMAGE_BYTES),
                                  .first = VECTOR_IMEM_WORDS,
                                  .executed = g_new0(uint64_t, VECTOR_IMEM_WORDS),
                                  .spent = g_new0(uint64_t, VECTOR_IMEM_WORDS)};
    g_array_append_val(images, image);
    return images->len - 1;
}

/* Books the last word of the RUN before, whose end the cycle register tells. */
static void close_run(struct profile_core *core) {
    if (!core->running)
        return;
    struct profile_image *image = &g_array_index(core->images, struct profile_image, core->image);
    uint64_t cycles = core->endpoint->type->debug_register(core->endpoint->unit, 0);
    image->cycles += cycles;
    if (core->started && core->offered + cycles > core->executed)
        image->spent[core->pc] += core->offered + cycles - core->executed;
    core->running = false;
}

static void open_run(struct profile_core *core, cycle_t cycle) {
    close_run(core);
    core->image = find_image(core->images, vector_code(core->endpoint->unit));
    core->running = true;
    core->started = false;
    core->offered = cycle;
    g_array_index(core->images, struct profile_image, core->image).runs++;
}

static void execute(struct profile_core *core, cycle_t cycle, unsigned pc) {
    struct profile_image *image = &g_array_index(core->images, struct profile_image, core->image);
    if (core->started)
        image->spent[core->pc] += cycle - core->executed;
    else
        image->start_cycles += cycle - core->offered;
    core->started = true;
    core->executed = cycle;
    core->pc = pc;
    image->executed[pc]++;
    image->first = MIN(image->first, pc);
    image->end = MAX(image->end, pc + 1);
}

static void note(void *self, enum vector_event event, cycle_t cycle, unsigned detail) {
    if (event == VECTOR_EVENT_OFFERED)
        open_run(self, cycle);
    else if (event == VECTOR_EVENT_EXECUTE)
        execute(self, cycle, detail);
}

struct profile *profile_new(struct system *system) {
    struct profile *profile = g_new0(struct profile, 1);
    profile->images = images_new();
    profile->cores = g_array_new(FALSE, TRUE, sizeof(struct profile_core));
    for (unsigned i = 0; i < system->endpoint_count; i++) {
        struct profile_core core = {.endpoint = &system->endpoints[i], .images = NULL};
        if (core.endpoint->type != &unit_type_vector)
            continue;
        core.images = images_new();
        g_array_append_val(profile->cores, core);
    }
    for (guint c = 0; c < profile->cores->len; c++) {
        struct profile_core *core = &g_array_index(profile->cores, struct profile_core, c);
        vector_set_trace(core->endpoint->unit, &(struct vector_trace){.self = core, .event = note});
    }
    return profile;
}

static void add_image(struct profile *profile, const struct profile_image *from) {
    guint number = find_image(profile->images, from->words);
    struct profile_image *to = &g_array_index(profile->images, struct profile_image, number);
    to->cores++;
    to->runs += from->runs;
    to->cycles += from->cycles;
    to->start_cycles += from->start_cycles;
    to->first = MIN(to->first, from->first);
    to->end = MAX(to->end, from->end);
    for (unsigned w = 0; w < VECTOR_IMEM_WORDS; w++) {
        to->executed[w] += from->executed[w];
        to->spent[w] += from->spent[w];
    }
}

void profile_end(struct profile *profile) {
    for (guint c = 0; c < profile->cores->len; c++) {
        struct profile_core *core = &g_array_index(profile->cores, struct profile_core, c);
        close_run(core);
        for (guint i = 0; i < core->images->len; i++)
            add_image(profile, &g_array_index(core->images, struct profile_image, i));
        vector_set_trace(core->endpoint->unit, &(struct vector_trace){0});
        g_clear_pointer(&core->images, g_array_unref);
    }
    g_array_set_size(profile->cores, 0);
}

void profile_free(struct profile *profile) {
    if (!profile)
        return;
    for (guint c = 0; c < profile->cores->len; c++) {
        GArray *images = g_array_index(profile->cores, struct profile_core, c).images;
        if (images)
            g_array_unref(images);
    }
    g_array_unref(profile->cores);
    g_array_unref(profile->images);
    g_free(profile);
}

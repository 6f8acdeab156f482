/* The memory path; see path.h. The converged attachment is the arbiter, address stages, crossing queues and return
 * queue of noc-and-memory §6.10 in front of one channel; the per-port attachment gives every requester a channel of its
 * own. */
#include "memory/path.h"

#include <string.h>

#include "memory/crossing.h"
#include "memory/dram_pipeline.h"
#include "memory/dram_timing.h"
#include "memory/stage.h"

enum {
    REQUESTERS_MAX = 8,
    BEAT_WORDS_MAX = 8, /* R: 256-bit words in a memory beat */
    ORDER_RING = 64,
    ORDER_DEPTH = 18, /* order queue of declared depth 16 */
};

/* One burst on its way: who, where, how long. */
struct burst {
    uint8_t requester;
    unsigned words;
    uint64_t address;
    cycle_t ready; /* order queue: readable from */
};

struct beat {
    struct word256 words[BEAT_WORDS_MAX];
};

/* One channel of the bench RAM: one transaction per direction at a time. */
struct channel {
    struct dram_timing timing;
    bool reading;
    cycle_t first_beat;
    struct burst read;
    unsigned words_read;
    bool writing;
    cycle_t data_from;
    struct burst write;
    unsigned words_written;
    unsigned write_latency; /* last beat to response */
    bool responding;
    cycle_t response_at;
};

/* Arbiter and address stage of one direction. */
struct direction {
    uint32_t offered_before; /* presented in the previous cycle, a bit a requester */
    int winner_before;       /* -1: none */
    unsigned pointer;
    bool stage_full;
    struct burst stage;
};

struct ring_of_bursts {
    struct burst at[ORDER_RING];
    uint64_t in, out;
};

struct converged {
    struct channel channel;
    struct direction reads, writes;
    uint8_t presented[REQUESTERS_MAX];  /* choice kept until granted */
    unsigned reads_out[REQUESTERS_MAX]; /* read bursts in flight */
    struct crossing read_addresses, write_addresses, write_data, read_data, responses;
    struct burst read_address_ring[CROSSING_RING], write_address_ring[CROSSING_RING];
    struct beat write_ring[CROSSING_RING], read_ring[CROSSING_RING];
    struct ring_of_bursts returns; /* read bursts in grant order */
    unsigned words_returned;       /* of the head burst */
    struct ring_of_bursts order;   /* write bursts in grant order: who hands data over next */
    bool handing;                  /* a write burst is active */
    struct burst handed;
    unsigned words_handed;
    struct beat packing;
    struct ring_of_bursts answers;       /* write bursts whose response has not come */
    unsigned writes_out[REQUESTERS_MAX]; /* of answers, by requester */
    struct stage *stage;                 /* staging store at this path, or NULL */
    bool response_next;                  /* left its crossing queue in the previous cycle */
};

struct mem_path {
    enum memory_attachment attachment;
    unsigned ratio; /* words in a memory beat */
    unsigned fall_through;
    struct dram *dram;
    struct mem_requester **requesters;
    unsigned count;
    unsigned reads_in_flight;        /* of a requester */
    struct dram_pipeline *pipelines; /* instead of channels: one, or one a requester */
    struct channel *channels;        /* per-port */
    struct converged *shared;        /* converged */
    const struct path_watch *watch;
};

enum {
    PRESENT_NONE,
    PRESENT_READ,
    PRESENT_WRITE
};

static inline void bursts_push(struct ring_of_bursts *ring, struct burst burst) {
    ring->at[ring->in++ % ORDER_RING] = burst;
}

static inline struct burst *bursts_head(struct ring_of_bursts *ring) {
    return &ring->at[ring->out % ORDER_RING];
}

static inline bool bursts_empty(const struct ring_of_bursts *ring) {
    return ring->in == ring->out;
}

static unsigned pipeline_count(const struct mem_path *path) {
    return !path->pipelines ? 0 : path->attachment == MEMORY_PER_PORT ? path->count : 1;
}

/* At the shared channel the arbiter keeps each requester to its reads. */
static void add_pipelines(struct mem_path *path, const struct memory_params *memory) {
    bool shared = path->attachment == MEMORY_CONVERGED;
    path->pipelines = g_new0(struct dram_pipeline, path->count);
    for (unsigned p = 0; p < pipeline_count(path); p++)
        dram_pipeline_init(&path->pipelines[p], memory, shared ? PIPELINE_BURSTS : path->reads_in_flight);
}

static void note_burst(const struct mem_path *path, bool writes, uint64_t address, unsigned words, cycle_t now) {
    const struct path_watch *watch = path->watch;
    if (!watch)
        return;
    if (writes && watch->write_address)
        watch->write_address(watch->self, address, now);
    if (watch->burst)
        watch->burst(watch->self, writes, address, words, now);
}

struct mem_path *path_new(const struct machine *machine, struct dram *dram, struct mem_requester **requesters,
                          unsigned count) {
    g_assert(count <= REQUESTERS_MAX);
    const struct memory_params *memory = &machine->memory;
    struct mem_path *path = g_new0(struct mem_path, 1);
    *path = (struct mem_path){.attachment = memory->attachment,
                              .ratio = memory->channel_bits / WORD_BITS,
                              .fall_through = machine->noc.fall_through,
                              .dram = dram,
                              .requesters = g_memdup2(requesters, count * sizeof *requesters),
                              .count = count,
                              .reads_in_flight = MAX(memory->reads_in_flight, 1)};
    if (memory->pipelined)
        add_pipelines(path, memory);
    if (path->attachment == MEMORY_PER_PORT) {
        path->ratio = 1;
        path->channels = g_new0(struct channel, count);
        for (unsigned r = 0; r < count; r++)
            dram_timing_init(&path->channels[r].timing, memory);
        return path;
    }
    struct converged *shared = path->shared = g_new0(struct converged, 1);
    dram_timing_init(&shared->channel.timing, memory);
    if (memory->staging == STAGING_CONVERGED)
        shared->stage = stage_new(memory, 0);
    shared->reads.winner_before = shared->writes.winner_before = -1;
    crossing_init(&shared->read_addresses, memory->crossing, memory->address_queue);
    crossing_init(&shared->write_addresses, memory->crossing, memory->address_queue);
    crossing_init(&shared->write_data, memory->crossing, memory->write_queue);
    crossing_init(&shared->read_data, memory->crossing, memory->read_queue);
    crossing_init(&shared->responses, memory->crossing, memory->response_queue);
    return path;
}

struct stage *path_stage(const struct mem_path *path) {
    return path->shared ? path->shared->stage : NULL;
}

void path_set_mesh(struct mem_path *path, unsigned mesh) {
    if (path_stage(path))
        path_stage(path)->mesh = mesh;
}

void path_watch(struct mem_path *path, const struct path_watch *watch) {
    path->watch = watch;
}

void path_free(struct mem_path *path) {
    if (!path)
        return;
    for (unsigned p = 0; p < pipeline_count(path); p++)
        dram_pipeline_clear(&path->pipelines[p]);
    for (unsigned r = 0; path->channels && r < path->count; r++)
        dram_timing_clear(&path->channels[r].timing);
    if (path->shared) {
        dram_timing_clear(&path->shared->channel.timing);
        stage_free(path->shared->stage);
    }
    g_free(path->requesters);
    g_free(path->pipelines);
    g_free(path->channels);
    g_free(path->shared);
    g_free(path);
}

static void requester_begin(struct mem_requester *requester) {
    requester->read_accepted = requester->write_accepted = requester->data_accepted = false;
    requester->word_returned = requester->response = false;
}

/* ---- per-port: each requester straight on its own channel ---- */

static bool channel_step(struct mem_path *path, struct channel *channel, struct mem_requester *requester, cycle_t now) {
    requester_begin(requester);
    if (channel->reading) {
        if (now >= channel->first_beat && requester->return_ready && dram_timing_ready(&channel->timing, now)) {
            dram_timing_moved(&channel->timing, 1, now);
            requester->word = dram_read(path->dram, channel->read.address + channel->words_read * WORD_BYTES, NULL);
            requester->word_returned = true;
            channel->reading = ++channel->words_read < channel->read.words;
        }
    } else if (requester->read_offered) {
        requester->read_accepted = channel->reading = true;
        channel->read = (struct burst){.address = requester->read_address, .words = requester->read_words};
        channel->words_read = 0;
        note_burst(path, false, channel->read.address, channel->read.words, now);
        channel->first_beat = now + dram_timing_open(&channel->timing, channel->read.address);
    }
    if (channel->responding) {
        if (now == channel->response_at) {
            requester->response = true;
            channel->responding = false;
        }
    } else if (channel->writing) {
        if (requester->data_offered && dram_timing_ready(&channel->timing, now)) {
            dram_timing_moved(&channel->timing, 1, now);
            dram_write(path->dram, channel->write.address + channel->words_written * WORD_BYTES, &requester->data);
            requester->data_accepted = true;
            if (++channel->words_written == channel->write.words) {
                channel->writing = false;
                channel->responding = true;
                channel->response_at = now + channel->write_latency;
            }
        }
    } else if (requester->write_offered) {
        requester->write_accepted = channel->writing = true;
        channel->write = (struct burst){.address = requester->write_address, .words = requester->write_words};
        channel->words_written = 0;
        note_burst(path, true, channel->write.address, channel->write.words, now);
        channel->write_latency = dram_timing_open(&channel->timing, channel->write.address);
    }
    return channel->reading || channel->writing || channel->responding || requester->read_offered ||
           requester->write_offered;
}

/* The same on a channel with several bursts in flight. */
static bool pipelined_channel_step(struct mem_path *path, struct dram_pipeline *pipeline,
                                   struct mem_requester *requester, cycle_t now) {
    requester_begin(requester);
    const struct pipelined_burst *read = dram_pipeline_reading(pipeline, now), *write = dram_pipeline_writing(pipeline);
    enum dram_pins pins =
        dram_pipeline_grant(pipeline, read && requester->return_ready, write && requester->data_offered, now);
    if (pins == PINS_READ) {
        requester->word = dram_read(path->dram, read->address + read->moved * (uint64_t)WORD_BYTES, NULL);
        requester->word_returned = true;
        dram_pipeline_moved(pipeline, pins, 1, now);
    } else if (pins == PINS_WRITE) {
        dram_write(path->dram, write->address + write->moved * (uint64_t)WORD_BYTES, &requester->data);
        requester->data_accepted = true;
        dram_pipeline_moved(pipeline, pins, 1, now);
    }
    requester->response = dram_pipeline_answers(pipeline, now);
    if (requester->read_offered && dram_pipeline_takes_read(pipeline)) {
        requester->read_accepted = true;
        note_burst(path, false, requester->read_address, requester->read_words, now);
        dram_pipeline_read(pipeline, requester->read_address, requester->read_words, now);
    }
    if (requester->write_offered && dram_pipeline_takes_write(pipeline)) {
        requester->write_accepted = true;
        note_burst(path, true, requester->write_address, requester->write_words, now);
        dram_pipeline_write(pipeline, requester->write_address, requester->write_words, now);
    }
    return !dram_pipeline_idle(pipeline) || requester->read_offered || requester->write_offered;
}

/* ---- converged ---- */

/* Words of memory beat number `beat` that the burst uses: [*first, *first + return). */
static unsigned beat_span(const struct mem_path *path, const struct burst *burst, unsigned words_before,
                          unsigned *first) {
    unsigned phase = burst->address / WORD_BYTES % path->ratio;
    *first = (phase + words_before) % path->ratio;
    return MIN(path->ratio - *first, burst->words - words_before);
}

static void memory_read_step(struct mem_path *path, cycle_t now) {
    struct converged *shared = path->shared;
    struct channel *channel = &shared->channel;
    bool taken = false;
    if (channel->reading) {
        if (now >= channel->first_beat && !crossing_full(&shared->read_data, now) &&
            dram_timing_ready(&channel->timing, now)) {
            unsigned first, span = beat_span(path, &channel->read, channel->words_read, &first);
            struct beat *beat = &shared->read_ring[crossing_push(&shared->read_data, now)];
            for (unsigned i = 0; i < span; i++)
                beat->words[first + i] = dram_read(
                    path->dram, channel->read.address + (channel->words_read + i) * (uint64_t)WORD_BYTES, NULL);
            dram_timing_moved(&channel->timing, span, now);
            channel->words_read += span;
            channel->reading = channel->words_read < channel->read.words;
        }
    } else if (crossing_readable(&shared->read_addresses, now)) {
        channel->read = shared->read_address_ring[crossing_head(&shared->read_addresses)];
        channel->reading = taken = true;
        channel->words_read = 0;
        note_burst(path, false, channel->read.address, channel->read.words, now);
        channel->first_beat = now + dram_timing_open(&channel->timing, channel->read.address);
    }
    crossing_advance(&shared->read_addresses, now, taken);
}

static void memory_write_step(struct mem_path *path, cycle_t now) {
    struct converged *shared = path->shared;
    struct channel *channel = &shared->channel;
    bool address_taken = false, data_taken = false;
    if (channel->responding) {
        if (now == channel->response_at) {
            crossing_push(&shared->responses, now);
            channel->responding = false;
        }
    } else if (channel->writing) {
        if (crossing_readable(&shared->write_data, now) && dram_timing_ready(&channel->timing, now)) {
            unsigned first, span = beat_span(path, &channel->write, channel->words_written, &first);
            const struct beat *beat = &shared->write_ring[crossing_head(&shared->write_data)];
            for (unsigned i = 0; i < span; i++)
                dram_write(path->dram, channel->write.address + (channel->words_written + i) * (uint64_t)WORD_BYTES,
                           &beat->words[first + i]);
            data_taken = true;
            dram_timing_moved(&channel->timing, span, now);
            channel->words_written += span;
            if (channel->words_written == channel->write.words) {
                channel->writing = false;
                channel->responding = true;
                channel->response_at = now + channel->write_latency;
            }
        }
    } else if (crossing_readable(&shared->write_addresses, now)) {
        channel->write = shared->write_address_ring[crossing_head(&shared->write_addresses)];
        channel->writing = address_taken = true;
        channel->words_written = 0;
        note_burst(path, true, channel->write.address, channel->write.words, now);
        channel->write_latency = dram_timing_open(&channel->timing, channel->write.address);
    }
    crossing_advance(&shared->write_addresses, now, address_taken);
    crossing_advance(&shared->write_data, now, data_taken);
}

/* ---- converged, several bursts in flight ---- */

static void move_read_beat(struct mem_path *path, struct dram_pipeline *pipeline, const struct pipelined_burst *read,
                           cycle_t now) {
    struct converged *shared = path->shared;
    const struct burst burst = {.address = read->address, .words = read->words};
    unsigned first, span = beat_span(path, &burst, read->moved, &first);
    struct beat *beat = &shared->read_ring[crossing_push(&shared->read_data, now)];
    for (unsigned i = 0; i < span; i++)
        beat->words[first + i] = dram_read(path->dram, read->address + (read->moved + i) * (uint64_t)WORD_BYTES, NULL);
    dram_pipeline_moved(pipeline, PINS_READ, span, now);
}

static void move_write_beat(struct mem_path *path, struct dram_pipeline *pipeline, const struct pipelined_burst *write,
                            cycle_t now) {
    struct converged *shared = path->shared;
    const struct burst burst = {.address = write->address, .words = write->words};
    unsigned first, span = beat_span(path, &burst, write->moved, &first);
    const struct beat *beat = &shared->write_ring[crossing_head(&shared->write_data)];
    for (unsigned i = 0; i < span; i++)
        dram_write(path->dram, write->address + (write->moved + i) * (uint64_t)WORD_BYTES, &beat->words[first + i]);
    dram_pipeline_moved(pipeline, PINS_WRITE, span, now);
}

/* Takes an address off a crossing queue, if there is one and room. */
static void take_address(struct mem_path *path, struct crossing *queue, const struct burst *ring, bool writes,
                         cycle_t now) {
    struct dram_pipeline *pipeline = path->pipelines;
    bool room = writes ? dram_pipeline_takes_write(pipeline) : dram_pipeline_takes_read(pipeline);
    bool taken = room && crossing_readable(queue, now);
    if (taken) {
        const struct burst *burst = &ring[crossing_head(queue)];
        note_burst(path, writes, burst->address, burst->words, now);
        (writes ? dram_pipeline_write : dram_pipeline_read)(pipeline, burst->address, burst->words, now);
    }
    crossing_advance(queue, now, taken);
}

static void memory_pipelined_step(struct mem_path *path, cycle_t now) {
    struct converged *shared = path->shared;
    struct dram_pipeline *pipeline = path->pipelines;
    const struct pipelined_burst *read = dram_pipeline_reading(pipeline, now), *write = dram_pipeline_writing(pipeline);
    enum dram_pins pins = dram_pipeline_grant(pipeline, read && !crossing_full(&shared->read_data, now),
                                              write && crossing_readable(&shared->write_data, now), now);
    if (!crossing_full(&shared->responses, now) && dram_pipeline_answers(pipeline, now))
        crossing_push(&shared->responses, now);
    if (pins == PINS_READ)
        move_read_beat(path, pipeline, read, now);
    if (pins == PINS_WRITE)
        move_write_beat(path, pipeline, write, now);
    take_address(path, &shared->read_addresses, shared->read_address_ring, false, now);
    take_address(path, &shared->write_addresses, shared->write_address_ring, true, now);
    crossing_advance(&shared->write_data, now, pins == PINS_WRITE);
}

/* The head of the return queue goes, a word a cycle, to the requester that asked for it. */
static void return_step(struct mem_path *path, cycle_t now) {
    struct converged *shared = path->shared;
    bool taken = false;
    if (crossing_readable(&shared->read_data, now)) {
        struct burst *burst = bursts_head(&shared->returns);
        struct mem_requester *requester = path->requesters[burst->requester];
        if (requester->return_ready) {
            unsigned first, span = beat_span(path, burst, shared->words_returned, &first);
            requester->word = shared->read_ring[crossing_head(&shared->read_data)].words[first];
            requester->word_returned = true;
            taken = span == 1;
            if (++shared->words_returned == burst->words) {
                shared->words_returned = 0;
                shared->reads_out[burst->requester]--;
                shared->returns.out++;
            }
        }
    }
    crossing_advance(&shared->read_data, now, taken);
}

static void response_step(struct mem_path *path, cycle_t now) {
    struct converged *shared = path->shared;
    if (shared->response_next) {
        unsigned requester = bursts_head(&shared->answers)->requester;
        path->requesters[requester]->response = true;
        shared->writes_out[requester]--;
        shared->answers.out++;
    }
    shared->response_next = crossing_readable(&shared->responses, now);
    crossing_advance(&shared->responses, now, shared->response_next);
}

/* Bit a requester: what it presents in this cycle in the given direction. */
static uint32_t presented(struct mem_path *path, unsigned what) {
    uint32_t mask = 0;
    for (unsigned r = 0; r < path->count; r++)
        mask |= (uint32_t)(path->shared->presented[r] == what) << r;
    return mask;
}

/* What a requester offers in a direction goes to DRAM, or to the staging store if that claims it. Data of a kind come
 * back from one side at a time: an offer waits until the requester's bursts on the other side are done (§7.1). */
static bool offers_dram(const struct converged *shared, const struct mem_requester *requester, unsigned r,
                        bool writes) {
    if (!(writes ? requester->write_offered : requester->read_offered))
        return false;
    return !shared->stage ||
           (!stage_claims(shared->stage, writes ? requester->write_address : requester->read_address) &&
            !stage_serves(shared->stage, r, writes) && !(writes && shared->writes_out[r] >= STAGE_OUTSTANDING));
}

static void present(struct mem_path *path) {
    struct converged *shared = path->shared;
    for (unsigned r = 0; r < path->count; r++)
        if (shared->presented[r] == PRESENT_NONE)
            shared->presented[r] = offers_dram(shared, path->requesters[r], r, true)    ? PRESENT_WRITE
                                   : offers_dram(shared, path->requesters[r], r, false) ? PRESENT_READ
                                                                                        : PRESENT_NONE;
}

/* The staging store's cycle; true while it has something to do. */
static bool staging_step(struct mem_path *path, cycle_t now) {
    struct converged *shared = path->shared;
    struct stage *stage = shared->stage;
    uint32_t reads = 0, writes = 0, waiting = 0;
    for (unsigned r = 0; r < path->count; r++) {
        const struct mem_requester *requester = path->requesters[r];
        bool read = requester->read_offered && stage_claims(stage, requester->read_address);
        bool write = requester->write_offered && stage_claims(stage, requester->write_address);
        reads |= (uint32_t)(read && !shared->reads_out[r]) << r;
        writes |= (uint32_t)(write && !shared->writes_out[r]) << r;
        waiting |= (uint32_t)(read || write) << r;
    }
    return stage_step(stage, path->requesters, path->count, reads, writes, now) || waiting;
}

/* First of the candidates at or after the pointer; -1 if there is none. */
static int pick(uint32_t candidates, unsigned pointer, unsigned count) {
    for (unsigned k = 0; k < count; k++) {
        unsigned r = (pointer + k) % count;
        if (candidates >> r & 1)
            return (int)r;
    }
    return -1;
}

static void arbitrate_reads(struct mem_path *path, uint32_t offered, uint32_t busy, cycle_t now) {
    struct converged *shared = path->shared;
    struct direction *reads = &shared->reads;
    uint32_t candidates = reads->offered_before & offered & ~busy;
    if (reads->winner_before >= 0)
        candidates &= ~(1u << reads->winner_before);
    bool leaves = reads->stage_full && !crossing_full(&shared->read_addresses, now) &&
                  shared->returns.in - shared->returns.out < ORDER_RING;
    if (leaves) {
        shared->read_address_ring[crossing_push(&shared->read_addresses, now)] = reads->stage;
        bursts_push(&shared->returns, reads->stage);
    }
    int winner = reads->stage_full && !leaves ? -1 : pick(candidates, reads->pointer, path->count);
    reads->stage_full = winner >= 0 || (reads->stage_full && !leaves);
    if (winner >= 0) {
        struct mem_requester *requester = path->requesters[winner];
        requester->read_accepted = true;
        reads->stage =
            (struct burst){.requester = winner, .address = requester->read_address, .words = requester->read_words};
        reads->pointer = (winner + 1) % path->count;
        shared->reads_out[winner]++;
        shared->presented[winner] = PRESENT_NONE;
    }
    reads->winner_before = winner;
    reads->offered_before = offered & ~busy; /* a busy requester is not offered to the arbiter */
}

static void arbitrate_writes(struct mem_path *path, uint32_t offered, cycle_t now) {
    struct converged *shared = path->shared;
    struct direction *writes = &shared->writes;
    uint32_t candidates = writes->offered_before & offered;
    if (writes->winner_before >= 0)
        candidates &= ~(1u << writes->winner_before);
    bool leaves = writes->stage_full && !crossing_full(&shared->write_addresses, now) &&
                  shared->order.in - shared->order.out < ORDER_DEPTH;
    if (leaves) {
        shared->write_address_ring[crossing_push(&shared->write_addresses, now)] = writes->stage;
        writes->stage.ready = now + path->fall_through;
        bursts_push(&shared->order, writes->stage);
        bursts_push(&shared->answers, writes->stage);
    }
    int winner = writes->stage_full && !leaves ? -1 : pick(candidates, writes->pointer, path->count);
    writes->stage_full = winner >= 0 || (writes->stage_full && !leaves);
    if (winner >= 0) {
        struct mem_requester *requester = path->requesters[winner];
        requester->write_accepted = true;
        shared->writes_out[winner]++;
        writes->stage =
            (struct burst){.requester = winner, .address = requester->write_address, .words = requester->write_words};
        writes->pointer = (winner + 1) % path->count;
        shared->presented[winner] = PRESENT_NONE;
    }
    writes->winner_before = winner;
    writes->offered_before = offered;
}

/* The active write burst hands over a word; with none active the order queue is looked at. */
static void hand_over_step(struct mem_path *path, cycle_t now) {
    struct converged *shared = path->shared;
    if (!shared->handing) {
        if (!bursts_empty(&shared->order) && bursts_head(&shared->order)->ready <= now) {
            shared->handed = *bursts_head(&shared->order);
            shared->order.out++;
            shared->words_handed = 0;
            shared->handing = true;
        }
        return;
    }
    struct mem_requester *requester = path->requesters[shared->handed.requester];
    if (!requester->data_offered || crossing_full(&shared->write_data, now))
        return;
    unsigned first, span = beat_span(path, &shared->handed, shared->words_handed, &first);
    shared->packing.words[first] = requester->data;
    requester->data_accepted = true;
    if (span == 1)
        shared->write_ring[crossing_push(&shared->write_data, now)] = shared->packing;
    shared->handing = ++shared->words_handed < shared->handed.words;
}

static bool converged_step(struct mem_path *path, cycle_t now) {
    struct converged *shared = path->shared;
    uint32_t busy = 0, waiting = 0;
    for (unsigned r = 0; r < path->count; r++) {
        struct mem_requester *requester = path->requesters[r];
        requester_begin(requester);
        busy |= (uint32_t)(shared->reads_out[r] >= path->reads_in_flight) << r;
        waiting |= (uint32_t)(requester->read_offered || requester->write_offered) << r;
    }
    bool staging = shared->stage && staging_step(path, now);
    if (path->pipelines) {
        memory_pipelined_step(path, now);
    } else {
        memory_read_step(path, now);
        memory_write_step(path, now);
    }
    return_step(path, now);
    response_step(path, now);
    present(path);
    uint32_t reads = presented(path, PRESENT_READ), writes = presented(path, PRESENT_WRITE);
    arbitrate_reads(path, reads, busy, now);
    arbitrate_writes(path, writes, now);
    hand_over_step(path, now);
    return staging || waiting || reads || writes || busy || shared->reads.stage_full || shared->writes.stage_full ||
           shared->handing || !bursts_empty(&shared->order) || !bursts_empty(&shared->answers) ||
           !bursts_empty(&shared->returns) || shared->response_next;
}

bool path_step(struct mem_path *path, cycle_t now) {
    if (path->attachment == MEMORY_CONVERGED)
        return converged_step(path, now);
    bool pending = false;
    for (unsigned r = 0; r < path->count; r++)
        pending |= path->pipelines ? pipelined_channel_step(path, &path->pipelines[r], path->requesters[r], now)
                                   : channel_step(path, &path->channels[r], path->requesters[r], now);
    return pending;
}

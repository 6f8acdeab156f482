/* Streams to rounds; see streams.h. */
#include "workloads/streams.h"

#include "model/flit.h"
#include "workloads/moves.h"

enum {
    COMMAND_WAIT = 1,
};

static void begin_round(struct streams *streams) {
    streams->flits = g_array_new(FALSE, TRUE, sizeof(struct staged_flit));
    streams->kicks = g_array_new(FALSE, TRUE, sizeof(struct kick));
    streams->commands = g_array_new(FALSE, TRUE, sizeof(struct control_command));
    streams->shadow = ROUND_SHADOW_EMPTY;
    streams->round_signals = 0;
    round_command_begin(&streams->options, streams->commands);
}

void streams_init(struct streams *streams, const struct machine *machine) {
    *streams = (struct streams){.rounds = g_array_new(FALSE, TRUE, sizeof(struct round))};
    round_options_init(&streams->options);
    streams->options.staging_flits = machine->agent.staging_flits;
    streams->options.commands = machine->agent.commands;
    streams->options.credit = machine->endpoint.inst_depth;
    begin_round(streams);
}

void streams_clear(struct streams *streams) {
    for (guint r = 0; streams->rounds && r < streams->rounds->len; r++) {
        struct round *round = &g_array_index(streams->rounds, struct round, r);
        g_free(round->flits);
        g_free(round->kicks);
        g_free(round->commands);
    }
    GArray *const arrays[] = {streams->rounds, streams->flits, streams->kicks, streams->commands};
    for (unsigned i = 0; i < G_N_ELEMENTS(arrays); i++)
        if (arrays[i])
            g_array_unref(arrays[i]);
    *streams = (struct streams){0};
}

void stream_init(struct stream *stream, struct node node) {
    *stream = (struct stream){.node = node, .flits = g_array_new(FALSE, TRUE, sizeof(struct streamed))};
}

void stream_add(struct stream *stream, const struct word256 *payload, unsigned signals) {
    struct streamed flit = {.payload = *payload, .signals = (uint16_t)signals};
    g_array_append_val(stream->flits, flit);
}

void stream_clear(struct stream *stream) {
    if (stream->flits)
        g_array_unref(stream->flits);
    *stream = (struct stream){0};
}

/* ---- rounds ---- */

static void end_round(struct streams *streams) {
    struct round *round = &streams->round;
    if (!streams->flits->len)
        return;
    round_command_done(streams->commands);
    round->flit_count = streams->flits->len;
    round->kick_count = streams->kicks->len;
    round->command_count = streams->commands->len;
    round->flits = (struct staged_flit *)(void *)g_array_free(streams->flits, FALSE);
    round->kicks = (struct kick *)(void *)g_array_free(streams->kicks, FALSE);
    round->commands = (struct control_command *)(void *)g_array_free(streams->commands, FALSE);
    streams->instructions += round->flit_count;
    streams->command_count += round->command_count;
    streams->host_writes += round_host_writes(round);
    streams->signals += streams->round_signals;
    streams->round_count++;
    g_array_append_val(streams->rounds, *round);
    *round = (struct round){0};
    begin_round(streams);
}

/* Flits of one more kick that the round under construction takes. */
static unsigned room(const struct streams *streams) {
    const struct round_options *options = &streams->options;
    unsigned commands = streams->commands->len + ROUND_KICK_COMMANDS + COMMAND_WAIT + 1;
    if (commands > options->commands || streams->round.programs + 1 >= options->credit)
        return 0;
    return options->staging_flits - streams->flits->len;
}

/* Kicks flits [from, from + count) of a stream, a program of its own. */
static void kick(struct streams *streams, const struct stream *stream, unsigned from, unsigned count) {
    uint8_t *txn = &streams->txn[node_byte(stream->node.x, stream->node.y)];
    struct kick kick = {.x = stream->node.x, .y = stream->node.y, .base = streams->flits->len, .length = count};
    for (unsigned f = 0; f < count; f++) {
        const struct streamed *flit = &g_array_index(stream->flits, struct streamed, from + f);
        struct staged_flit staged = {.payload = flit->payload,
                                     .txn = (*txn)++,
                                     .last = f + 1 == count,
                                     .x = stream->node.x,
                                     .y = stream->node.y};
        cluster_inst_decode(&flit->payload, &staged.inst);
        g_array_append_val(streams->flits, staged);
        streams->round_signals += flit->signals;
    }
    streams->round.programs++;
    g_array_append_val(streams->kicks, kick);
    round_command_kick(&streams->options, &kick, &streams->shadow, streams->commands);
}

static bool refuse(const struct streams *streams, GError **error) {
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                "staging RAM of %u flits, command RAM of %u and credit %u leave no room for one instruction, expected "
                "at least 1, %u and 2",
                streams->options.staging_flits, streams->options.commands, streams->options.credit,
                ROUND_FIXED_COMMANDS + ROUND_KICK_COMMANDS + COMMAND_WAIT);
    return false;
}

static unsigned left_of(const struct stream *list, const unsigned *sent, unsigned count) {
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++)
        left += list[i].flits->len - sent[i];
    return left;
}

/* Streams take turns, each with its share of what the round has room for. */
static bool kick_all(struct streams *streams, const struct stream *list, unsigned *sent, unsigned count) {
    bool any = false;
    for (unsigned i = 0; i < count; i++) {
        unsigned left = list[i].flits->len - sent[i], open = room(streams);
        unsigned rest = left_of(list + i, sent + i, count - i), share = rest <= open ? left : open / (count - i);
        unsigned take = MIN(left, share);
        if (!take)
            continue;
        kick(streams, &list[i], sent[i], take);
        sent[i] += take;
        any = true;
    }
    return any;
}

bool streams_step(struct streams *streams, const struct stream *list, unsigned count, GError **error) {
    g_autofree unsigned *sent = g_new0(unsigned, count + 1);
    bool fresh = !streams->flits->len;
    /* A step that fits a round of its own is not cut. */
    if (!fresh && left_of(list, sent, count) > room(streams))
        end_round(streams);
    while (left_of(list, sent, count)) {
        fresh = !streams->flits->len;
        bool any = kick_all(streams, list, sent, count);
        if (!any && fresh)
            return refuse(streams, error);
        if (any)
            round_command_wait(&streams->options, streams->round_signals, streams->commands);
        if (left_of(list, sent, count))
            end_round(streams);
    }
    return true;
}

void streams_barrier(struct streams *streams, uint64_t words, void (*act)(void *self), void *self) {
    end_round(streams);
    streams->awaited += words;
    streams->round.before = (struct round_barrier){.writes = streams->awaited, .act = act, .self = self};
}

void streams_moves(struct streams *streams, const GArray *moves) {
    end_round(streams);
    guint first = streams->rounds->len;
    streams->mover_writes += move_rounds_append(streams->rounds, moves, streams->options.commands);
    if (streams->rounds->len > first)
        g_array_index(streams->rounds, struct round, first).before = streams->round.before;
    streams->round.before = (struct round_barrier){0};
}

void streams_run(struct streams *streams, struct run *run) {
    end_round(streams);
    run->host_writes = streams->host_writes;
    run->mover_writes = streams->mover_writes;
    run->commands = streams->command_count;
    run->rounds = streams->round_count;
    run->instructions = streams->instructions;
    run_rounds(run, (const struct round *)(const void *)streams->rounds->data, streams->rounds->len, streams->signals);
}

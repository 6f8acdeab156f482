/* Mover rounds; see moves.h. */
#include "workloads/moves.h"

static void add(struct round *round, uint8_t op, uint64_t address, uint64_t data, uint64_t mask) {
    round->commands[round->command_count++] =
        (struct control_command){.op = op, .address = address, .data = data, .mask = mask};
}

static struct round new_round(unsigned room) {
    return (struct round){.commands = g_new0(struct control_command, room)};
}

static void end_round(GArray *rounds, struct round *round) {
    add(round, CONTROL_DONE, 0, 0, 0);
    g_array_append_val(rounds, *round);
}

struct move_rounds {
    GArray *rounds;
    struct round round;
    unsigned room;
};

/* Begins another round unless this one has room for so many commands and DONE, or is empty. */
static void make_room(struct move_rounds *into, unsigned commands) {
    if (!into->round.command_count || into->round.command_count + commands + 1 <= into->room)
        return;
    end_round(into->rounds, &into->round);
    into->round = new_round(into->room);
}

uint64_t move_rounds_append(GArray *rounds, const GArray *moves, unsigned room) {
    uint64_t writes = 0;
    if (!moves->len)
        return 0;
    g_assert(room >= 2);
    struct move_rounds into = {.rounds = rounds, .round = new_round(room), .room = room};
    for (guint m = 0; m < moves->len; m++) {
        const struct move *move = &g_array_index(moves, struct move, m);
        make_room(&into, move->count + 1); /* with its poll in one round, unless no round is long enough */
        for (unsigned w = 0; w < move->count; w++) {
            make_room(&into, 1);
            add(&into.round, CONTROL_WR, AGENT_AUX_CFG + move->writes[w].offset, move->writes[w].value, 0);
        }
        make_room(&into, 1);
        add(&into.round, CONTROL_POLL, AGENT_AUX_STAT, 0, 1); /* not busy any more */
        writes += move->count;
    }
    end_round(rounds, &into.round);
    return writes;
}

void move_round_clear(struct round *round) {
    g_free(round->commands);
    *round = (struct round){0};
}

/* Between the mover and the memory path of an interlinked agent (noc-and-memory §10.4): reads pass straight through,
 * write bursts are taken one at a time. A local one goes on a cycle later, a remote one is cut into words for the
 * interlink's outbound arbiter.
 *
 * Order within a cycle: splitter_present() before path_step(), splitter_step() after it and after interlink_step(), and
 * before the mover is stepped. */
#pragma once

#include <stdbool.h>

#include "memory/path.h"
#include "model/machine.h"
#include "noc/interlink.h"

enum splitter_state {
    SPLITTER_IDLE,
    SPLITTER_LOCAL,
    SPLITTER_REMOTE,
};

enum {
    SPLITTER_OWED = 32, /* write responses owed to the mover */
};

struct splitter {
    struct mem_requester *mover;    /* whose offers it takes */
    struct mem_requester requester; /* what the memory path sees */
    struct interlink *interlink;
    enum splitter_state state;
    uint64_t address; /* of the next remote word */
    unsigned mesh;
    unsigned left; /* words of the burst not yet taken from the mover */
    unsigned owed;
    unsigned answers; /* responses to be given, one a cycle */
};

void splitter_init(struct splitter *splitter, struct mem_requester *mover, struct interlink *interlink);
void splitter_present(struct splitter *splitter);
void splitter_step(struct splitter *splitter);
/* Nothing taken, nothing owed. */
bool splitter_quiet(const struct splitter *splitter);

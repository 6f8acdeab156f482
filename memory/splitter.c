/* The mover's write splitter; see splitter.h. */
#include "memory/splitter.h"

void splitter_init(struct splitter *splitter, struct mem_requester *mover, struct interlink *interlink) {
    *splitter = (struct splitter){.mover = mover, .interlink = interlink};
}

void splitter_present(struct splitter *splitter) {
    const struct mem_requester *mover = splitter->mover;
    struct mem_requester *requester = &splitter->requester;
    requester->read_offered = mover->read_offered;
    requester->read_address = mover->read_address;
    requester->read_words = mover->read_words;
    requester->return_ready = mover->return_ready;
    requester->data_offered = splitter->state == SPLITTER_LOCAL && mover->data_offered;
    requester->data = mover->data;
}

static unsigned mesh_of(uint64_t address) {
    return address >> 36 & 3;
}

/* A burst is taken when idle: where it goes is told by its address. */
static void take_burst(struct splitter *splitter) {
    struct mem_requester *mover = splitter->mover;
    const struct interlink *interlink = splitter->interlink;
    mover->write_accepted = true;
    splitter->owed++;
    splitter->left = mover->write_words;
    splitter->address = mover->write_address;
    splitter->mesh = mesh_of(mover->write_address);
    if (interlink->enabled && splitter->mesh != interlink->mesh) {
        splitter->state = SPLITTER_REMOTE;
        return;
    }
    splitter->state = SPLITTER_LOCAL;
    splitter->requester.write_offered = true;
    splitter->requester.write_address = mover->write_address;
    splitter->requester.write_words = mover->write_words;
}

static void local_step(struct splitter *splitter) {
    if (!splitter->requester.data_accepted)
        return;
    splitter->mover->data_accepted = true;
    if (--splitter->left == 0)
        splitter->state = SPLITTER_IDLE;
}

/* A word is taken while none waits; idle again when the last one's header has left. */
static void remote_step(struct splitter *splitter) {
    struct interlink_word *word = &splitter->interlink->word;
    struct mem_requester *mover = splitter->mover;
    if (word->taken) {
        if (splitter->left == 0) {
            splitter->state = SPLITTER_IDLE;
            splitter->answers++;
        }
        return;
    }
    if (word->waiting || !splitter->left || !mover->data_offered)
        return;
    mover->data_accepted = true;
    *word = (struct interlink_word){
        .waiting = true, .mesh = splitter->mesh, .address = splitter->address, .word = mover->data};
    splitter->address += WORD_BYTES;
    splitter->left--;
}

void splitter_step(struct splitter *splitter) {
    struct mem_requester *mover = splitter->mover, *requester = &splitter->requester;
    enum splitter_state state = splitter->state;
    unsigned owed = splitter->owed;
    mover->read_accepted = requester->read_accepted;
    mover->word_returned = requester->word_returned;
    mover->word = requester->word;
    mover->write_accepted = mover->data_accepted = false;
    mover->response = splitter->answers > 0;
    splitter->answers -= mover->response;
    splitter->owed -= mover->response;
    splitter->answers += requester->response; /* seen by the mover a cycle later */
    if (requester->write_accepted)
        requester->write_offered = false;
    if (state == SPLITTER_LOCAL)
        local_step(splitter);
    else if (state == SPLITTER_REMOTE)
        remote_step(splitter);
    else if (mover->write_offered && owed < SPLITTER_OWED)
        take_burst(splitter);
}

bool splitter_quiet(const struct splitter *splitter) {
    return splitter->state == SPLITTER_IDLE && splitter->owed == 0;
}

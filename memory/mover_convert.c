/* Mode 5 of the mover; see mover_convert.h.
 *
 * An entry is walked in max(IN_BEATS, OUT_WORDS) steps: step j takes source word j and destination word j as far as the
 * entry has them, so that a converting move starts like a copy. The walk may be ahead of the bank; the addresses wait
 * in the skid until the last beat of the entry before has arrived (§9.7). */
#include "memory/mover_convert.h"

enum {
    MOVER_REQUESTER = 0, /* at the bank */
};

enum mover_fault convert_check(const struct mover *mover) {
    unsigned in_beats, out_words;
    if (walker_bounded(&mover->source) || walker_bounded(&mover->destination))
        return MOVER_FAULT_BOUND;
    transform_geometry(mover->bank, mover->xform_id, &in_beats, &out_words);
    uint64_t source = walker_elements(&mover->source), destination = walker_elements(&mover->destination);
    if (destination % out_words || source % in_beats || destination / out_words != source / in_beats)
        return MOVER_FAULT_RANGE;
    return MOVER_FAULT_NONE;
}

void convert_begin(struct mover *mover) {
    if (!transform_grant(mover->bank, MOVER_REQUESTER)) {
        mover->state = ISSUE_GRANT;
        return;
    }
    struct mover_convert *convert = &mover->convert;
    *convert = (struct mover_convert){.active = true, .id = mover->xform_id, .mode = mover->xform_mode};
    transform_geometry(mover->bank, convert->id, &convert->in_beats, &convert->out_words);
    convert->steps = MAX(convert->in_beats, convert->out_words);
    convert->entries = walker_elements(&mover->destination) / convert->out_words;
    mover->state = ISSUE_START;
}

void convert_end(struct mover *mover) {
    if (mover->convert.active)
        transform_release(mover->bank, MOVER_REQUESTER);
    mover->convert.active = false;
}

struct mover_element convert_latch(struct mover *mover) {
    struct mover_convert *convert = &mover->convert;
    bool reads = convert->step < convert->in_beats, writes = convert->step < convert->out_words;
    bool opens = convert->step == 0, closes = convert->step + 1 == convert->steps;
    struct mover_element element = {.source = walker_address(&mover->source),
                                    .destination = walker_address(&mover->destination),
                                    .kind = writes ? KIND_READ : KIND_NONE,
                                    .reads = reads,
                                    .keeps_read = !reads,
                                    .opens_entry = opens,
                                    .reserve = opens ? convert->out_words : 0,
                                    .entry = convert->walked};
    if (writes && element.destination % WORD_BYTES && !convert->cut) {
        /* This word and all after it stay unwritten; the entry is read only if words before it need it. */
        convert->cut = element.misaligned = true;
        if (opens)
            return (struct mover_element){.kind = KIND_SUPPRESSED, .misaligned = true, .ends = true};
    }
    if (convert->cut && writes)
        element.kind = KIND_SUPPRESSED;
    element.ends = closes && (convert->cut || convert->walked + 1 == convert->entries);
    if (reads)
        walker_advance(&mover->source);
    if (writes)
        walker_advance(&mover->destination);
    convert->step = closes ? 0 : convert->step + 1;
    convert->walked += closes;
    return element;
}

void convert_beat(struct mover *mover, cycle_t now) {
    struct mover_convert *convert = &mover->convert;
    if (convert->aborted)
        return; /* received and discarded, §9.8 */
    transform_beat(mover->bank, MOVER_REQUESTER, &mover->port.word, now);
    convert->received += ++convert->beats == convert->in_beats;
}

/* Shortens what is still to be written to `words`: queue and open run hold whole bursts of entries that never come. */
static void truncate_commands(struct mover *mover, uint64_t words) {
    if (mover->writing == WRITE_ARMED && mover->command.kind == KIND_READ) {
        mover->command.words = (unsigned)MIN(mover->command.words, words);
        words -= mover->command.words;
        if (!mover->command.words)
            mover->writing = WRITE_IDLE;
    }
    uint64_t kept = mover->command_out;
    for (uint64_t n = mover->command_out; n != mover->command_in; n++) {
        struct mover_write_command command = mover->commands[n & mover->command_mask];
        if (command.kind == KIND_READ) {
            command.words = (unsigned)MIN(command.words, words);
            words -= command.words;
        }
        if (command.words)
            mover->commands[kept++ & mover->command_mask] = command;
    }
    mover->command_in = kept;
    if (mover->write.open) {
        mover->write.words = (unsigned)MIN(mover->write.words, words);
        mover->write.open = mover->write.words;
    }
}

/* No further read addresses; an address that is being offered stays until it is accepted. */
static void drop_addresses(struct mover *mover) {
    unsigned keep = mover->port.read_offered && !mover->port.read_accepted;
    unsigned dropped = mover->skid_count - keep + mover->register_full;
    mover->skid_count = keep;
    mover->register_full = false;
    mover->out_tail -= dropped;
    mover->bursts_out -= dropped;
    mover->read.open = false;
}

void convert_watch(struct mover *mover, cycle_t now) {
    struct mover_convert *convert = &mover->convert;
    if (convert->aborted || !convert->started || !transform_fault(mover->bank, now))
        return;
    uint64_t whole = convert->finished * convert->out_words;
    convert->aborted = convert->cut = true;
    mover->fault = MOVER_FAULT_OCCUPANT;
    mover->state = ISSUE_FLUSH;
    transform_abandon(mover->bank);
    drop_addresses(mover);
    truncate_commands(mover, whole - convert->words_committed);
    mover->reserved = (unsigned)(whole - convert->words_written);
}

static void emit_result(struct mover *mover, cycle_t now) {
    struct mover_convert *convert = &mover->convert;
    if (convert->result_next == convert->result_count)
        return;
    if (convert->words_emitted < convert->words_walked) {
        mover_push_data(mover, &convert->result[convert->result_next++], now);
        convert->words_emitted++;
    } else if (convert->cut) {
        convert->result_next++;
        mover->reserved--;
    }
}

void convert_step(struct mover *mover, cycle_t now) {
    struct mover_convert *convert = &mover->convert;
    emit_result(mover, now);
    if (convert->aborted)
        return;
    if (convert->started == convert->finished) {
        if (convert->started < convert->offered) {
            transform_start(mover->bank, MOVER_REQUESTER, convert->id, convert->mode, now);
            convert->started++;
            convert->beats = 0;
        }
    } else if (convert->result_next == convert->result_count && transform_capture(mover->bank, now, convert->result)) {
        convert->result_next = 0;
        convert->result_count = convert->out_words;
        convert->finished++;
    }
}

bool convert_return_ready(const struct mover *mover) {
    const struct mover_convert *convert = &mover->convert;
    return convert->aborted || (convert->started != convert->finished && convert->beats < convert->in_beats);
}

bool convert_may_offer(const struct mover *mover) {
    return mover->convert.aborted || mover->skid[0].entry <= mover->convert.received;
}

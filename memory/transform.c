/* The transform bank; see transform.h. Two registers belong to the contract (§9.7): one in front of the bank for every
 * beat, one behind the requester multiplexer, after which the requester captures. An entry therefore takes
 * 1 start + IN_BEATS + 1 + D_x + 1 + 1 cycles. */
#include "memory/transform.h"

#include <string.h>

#include "model/error.h"

enum {
    BEAT_REGISTER = 1,
    REQUESTER_REGISTER = 1,
    CAPTURE = 1,
    IDENTITY_LATENCY = 1, /* D_x of the bypass, §9.7 */
    NOBODY = -1,
};

struct slot {
    const struct transform_occupant *occupant; /* NULL: no such id */
    void *state;
};

struct transform_bank {
    struct slot slots[TRANSFORM_SLOTS + 1]; /* by id; 0 is the bypass */
    bool is_default;                        /* no project bank: every id is the bypass */
    int holder;                             /* requester that holds the grant */
    /* The entry inside the bank. */
    bool open, finished;
    cycle_t started_at, capture_at;
    const struct slot *running;
    unsigned beats;
    struct word256 words[TRANSFORM_WORDS];
    /* Fault nibble, and bits on their way into it. */
    unsigned fault, fault_coming;
    cycle_t fault_from;
    struct hazard_log *hazards;
};

/* ---- bypass: four words in, the same four out ---- */

struct identity {
    unsigned count;
    struct word256 words[TRANSFORM_WORDS];
};

static void identity_start(void *state, unsigned id, unsigned mode) {
    (void)id, (void)mode;
    ((struct identity *)state)->count = 0;
}

static void identity_beat(void *state, const struct word256 *beat) {
    struct identity *identity = state;
    identity->words[identity->count++] = *beat;
}

static unsigned identity_finish(void *state, struct word256 words[TRANSFORM_WORDS]) {
    memcpy(words, ((const struct identity *)state)->words, sizeof(struct word256[TRANSFORM_WORDS]));
    return IDENTITY_LATENCY;
}

const struct transform_occupant transform_identity = {.name = "identity",
                                                      .in_bits = TRANSFORM_WORDS * WORD_BITS,
                                                      .out_words = TRANSFORM_WORDS,
                                                      .state_size = sizeof(struct identity),
                                                      .start = identity_start,
                                                      .beat = identity_beat,
                                                      .finish = identity_finish};

const struct transform_occupant *transform_find(const char *name) {
    static const struct transform_occupant *const known[] = {&transform_identity, &transform_quantiser,
                                                             &transform_negate};
    for (unsigned i = 0; i < G_N_ELEMENTS(known); i++)
        if (strcmp(known[i]->name, name) == 0)
            return known[i];
    return NULL;
}

/* ---- bank ---- */

static bool occupant_fits(const struct transform_occupant *occupant, GError **error) {
    if (occupant->out_words < 1 || occupant->out_words > TRANSFORM_WORDS) {
        g_set_error(error, FS_ERROR, FS_ERROR_RANGE,
                    "transform '%s' declares OUT_WORDS %u: an entry yields 1 to %d words", occupant->name,
                    occupant->out_words, TRANSFORM_WORDS);
        return false;
    }
    if (occupant->in_bits == 0 || occupant->in_bits % WORD_BITS || occupant->in_bits > UINT16_MAX) {
        g_set_error(error, FS_ERROR, FS_ERROR_RANGE,
                    "transform '%s' declares IN_BITS %u: it has to be a multiple of %d below 65,536", occupant->name,
                    occupant->in_bits, WORD_BITS);
        return false;
    }
    return true;
}

static void slot_fill(struct slot *slot, const struct transform_occupant *occupant) {
    *slot = (struct slot){.occupant = occupant, .state = g_malloc0(MAX(occupant->state_size, 1))};
}

struct transform_bank *transform_bank_new(const struct transform_occupant *const *slots, unsigned count,
                                          struct hazard_log *hazards, GError **error) {
    if (count > TRANSFORM_SLOTS) {
        g_set_error(error, FS_ERROR, FS_ERROR_RANGE, "a transform bank has ids 1 to %d, %u occupants were given",
                    TRANSFORM_SLOTS, count);
        return NULL;
    }
    for (unsigned i = 0; i < count; i++)
        if (slots[i] && !occupant_fits(slots[i], error))
            return NULL;
    struct transform_bank *bank = g_new0(struct transform_bank, 1);
    bank->holder = NOBODY;
    bank->hazards = hazards;
    bank->is_default = count == 0;
    slot_fill(&bank->slots[0], &transform_identity);
    for (unsigned i = 0; i < count; i++)
        if (slots[i])
            slot_fill(&bank->slots[i + 1], slots[i]);
    return bank;
}

void transform_bank_free(struct transform_bank *bank) {
    if (!bank)
        return;
    for (unsigned id = 0; id <= TRANSFORM_SLOTS; id++)
        g_free(bank->slots[id].state);
    g_free(bank);
}

bool transform_grant(struct transform_bank *bank, unsigned requester) {
    if (bank->holder == NOBODY)
        bank->holder = (int)requester;
    return bank->holder == (int)requester;
}

void transform_release(struct transform_bank *bank, unsigned requester) {
    if (bank->holder != (int)requester)
        return;
    transform_abandon(bank);
    bank->holder = NOBODY;
}

/* The slot an id names; NULL if it names none. */
static const struct slot *slot_named(const struct transform_bank *bank, unsigned id) {
    if (bank->is_default)
        return &bank->slots[0];
    return id <= TRANSFORM_SLOTS && bank->slots[id].occupant ? &bank->slots[id] : NULL;
}

static const struct slot *slot_of(const struct transform_bank *bank, unsigned id) {
    const struct slot *slot = slot_named(bank, id);
    return slot ? slot : &bank->slots[0];
}

void transform_geometry(const struct transform_bank *bank, unsigned id, unsigned *in_beats, unsigned *out_words) {
    const struct transform_occupant *occupant = slot_of(bank, id)->occupant;
    *in_beats = occupant->in_bits / WORD_BITS;
    *out_words = occupant->out_words;
}

/* Bits raised together or in turn show from the earliest cycle of those that are still on their way. */
static void raise_fault(struct transform_bank *bank, unsigned bits, cycle_t from) {
    if (!bits)
        return;
    bank->fault_from = bank->fault_coming ? MIN(bank->fault_from, from) : from;
    bank->fault_coming |= bits;
}

static unsigned occupant_fault(const struct slot *slot) {
    unsigned bits = slot->occupant->fault ? slot->occupant->fault(slot->state) : 0;
    return bits & bit_mask(TRANSFORM_FAULT_BITS) & ~TRANSFORM_FAULT_UNKNOWN_ID;
}

unsigned transform_fault(struct transform_bank *bank, cycle_t now) {
    if (bank->fault_coming && bank->fault_from <= now) {
        bank->fault |= bank->fault_coming;
        bank->fault_coming = 0;
    }
    return bank->fault;
}

void transform_start(struct transform_bank *bank, unsigned requester, unsigned id, unsigned mode, cycle_t now) {
    if (bank->holder != (int)requester) {
        hazard_fatal(bank->hazards, "xform.beat_no_grant", now, "transform",
                     "requester %u started an entry without the bank's grant: it was dropped (transform slot, "
                     "arbitration)",
                     requester);
        return;
    }
    bank->running = slot_of(bank, id);
    bank->open = true;
    bank->finished = false;
    bank->beats = 0;
    bank->started_at = now;
    bank->running->occupant->start(bank->running->state, id, mode);
    raise_fault(bank, (slot_named(bank, id) ? 0 : TRANSFORM_FAULT_UNKNOWN_ID) | occupant_fault(bank->running), now + 1);
}

void transform_beat(struct transform_bank *bank, unsigned requester, const struct word256 *beat, cycle_t now) {
    if (bank->holder != (int)requester) {
        hazard_fatal(
            bank->hazards, "xform.beat_no_grant", now, "transform",
            "requester %u pushed a beat without the bank's grant: it was dropped (transform slot, arbitration)",
            requester);
        return;
    }
    if (!bank->open || bank->finished || now == bank->started_at) {
        hazard_fatal(bank->hazards, "xform.beat_no_entry", now, "transform",
                     "requester %u pushed a beat that belongs to no open entry: it was dropped (transform slot, port "
                     "contract)",
                     requester);
        return;
    }
    const struct slot *slot = bank->running;
    cycle_t at_bank = now + BEAT_REGISTER;
    slot->occupant->beat(slot->state, beat);
    raise_fault(bank, occupant_fault(slot), at_bank + 1);
    if (++bank->beats < slot->occupant->in_bits / WORD_BITS)
        return;
    memset(bank->words, 0, sizeof bank->words);
    cycle_t done = at_bank + slot->occupant->finish(slot->state, bank->words);
    raise_fault(bank, occupant_fault(slot), done + 1);
    bank->finished = true;
    bank->capture_at = done + REQUESTER_REGISTER + CAPTURE;
}

bool transform_capture(struct transform_bank *bank, cycle_t now, struct word256 words[TRANSFORM_WORDS]) {
    if (!bank->open || !bank->finished || now < bank->capture_at)
        return false;
    memcpy(words, bank->words, sizeof bank->words);
    bank->open = false;
    return true;
}

void transform_abandon(struct transform_bank *bank) {
    bank->open = false;
}

bool transform_need_beat(const struct transform_bank *bank) {
    if (!bank->open || bank->finished)
        return false;
    const struct slot *slot = bank->running;
    return !slot->occupant->need_beat || slot->occupant->need_beat(slot->state);
}

void transform_cfg_write(struct transform_bank *bank, unsigned id, unsigned reg, uint32_t value, cycle_t now) {
    if (bank->holder != NOBODY) {
        hazard_fatal(bank->hazards, "xform.cfg_during_run", now, "transform",
                     "register 0x%02x of id %u was written while a run holds the bank: the write was dropped "
                     "(transform slot, configuration only while ungranted)",
                     reg, id);
        return;
    }
    if (reg == TRANSFORM_REG_FAULT)
        bank->fault = bank->fault_coming = 0;
    const struct slot *slot = slot_named(bank, id);
    if (slot && slot->occupant->cfg_write && reg != TRANSFORM_REG_GEOMETRY)
        slot->occupant->cfg_write(slot->state, reg, value);
}

uint32_t transform_cfg_read(struct transform_bank *bank, unsigned id, unsigned reg, cycle_t now) {
    const struct slot *slot = slot_named(bank, id);
    if (reg == TRANSFORM_REG_FAULT)
        return transform_fault(bank, now);
    if (!slot)
        return 0;
    if (reg == TRANSFORM_REG_GEOMETRY)
        return slot->occupant->out_words << 16 | slot->occupant->in_bits;
    return slot->occupant->cfg_read ? slot->occupant->cfg_read(slot->state, reg) : 0;
}

/* Staging store; see stage.h. */
#include "memory/stage.h"

#include <glib.h>
#include <string.h>

enum {
    /* Address map, §1.4. */
    SPECIAL_BIT = 39,
    MESH_BIT = 36,
    APERTURE_BIT = 32,
    APERTURE_STAGING = 0,
    READ_CYCLES = 5, /* request to word; the next request follows the word that was taken */
};

struct stage *stage_new(const struct memory_params *memory, unsigned mesh) {
    struct stage *stage = g_new0(struct stage, 1);
    stage->mesh = mesh;
    stage->count = (uint64_t)memory->staging_entries * STAGE_ENTRY_WORDS;
    stage->words = g_new0(struct word256, stage->count);
    return stage;
}

void stage_free(struct stage *stage) {
    if (!stage)
        return;
    g_free(stage->words);
    g_free(stage);
}

bool stage_claims(const struct stage *stage, uint64_t address) {
    return address >> SPECIAL_BIT & 1 && (address >> MESH_BIT & 3) == stage->mesh &&
           (address >> APERTURE_BIT & 15) == APERTURE_STAGING;
}

static struct word256 *next_word(struct stage *stage) {
    return &stage->words[stage->word++ % stage->count];
}

static void accept(struct stage *stage, struct mem_requester *requester, unsigned index, bool writes, cycle_t now) {
    uint64_t address = writes ? requester->write_address : requester->read_address;
    stage->serving = true;
    stage->responding = false;
    stage->writes = writes;
    stage->requester = index;
    stage->word = (address & bit_mask(APERTURE_BIT)) / WORD_BYTES;
    stage->words_left = writes ? requester->write_words : requester->read_words;
    stage->available = now + 1 + (writes ? 0 : READ_CYCLES);
    stage->pointer = index + 1;
    if (writes)
        requester->write_accepted = true;
    else
        requester->read_accepted = true;
}

static void serve(struct stage *stage, struct mem_requester *requester, cycle_t now) {
    if (stage->responding) {
        requester->response = true;
        stage->serving = false;
    } else if (now >= stage->available && stage->writes && requester->data_offered) {
        *next_word(stage) = requester->data;
        requester->data_accepted = true;
        stage->writes_served++;
        stage->responding = --stage->words_left == 0;
    } else if (now >= stage->available && !stage->writes && requester->return_ready) {
        requester->word = *next_word(stage);
        requester->word_returned = true;
        stage->reads_served++;
        stage->available = now + 1 + READ_CYCLES;
        stage->serving = --stage->words_left > 0;
    }
}

bool stage_step(struct stage *stage, struct mem_requester *const *requesters, unsigned count, uint32_t reads,
                uint32_t writes, cycle_t now) {
    uint32_t read_candidates = reads & stage->read_offered_before;
    uint32_t write_candidates = writes & stage->write_offered_before;
    bool idle = !stage->serving;
    if (!idle)
        serve(stage, requesters[stage->requester], now);
    for (unsigned k = 0; idle && k < count; k++) {
        unsigned r = (stage->pointer + k) % count;
        bool write = write_candidates >> r & 1; /* of one requester the write goes first, as at the shared port */
        if (!write && !(read_candidates >> r & 1))
            continue;
        accept(stage, requesters[r], r, write, now);
        if (write)
            writes &= ~(1u << r);
        else
            reads &= ~(1u << r);
        break;
    }
    stage->read_offered_before = reads;
    stage->write_offered_before = writes;
    return stage->serving || reads || writes;
}

/* Calls for each piece that lies inside the store. */
static void each_piece(const struct stage *stage, uint64_t offset, uint8_t *bytes, size_t size, bool load) {
    uint64_t total = stage->count * WORD_BYTES;
    while (size) {
        uint64_t at = offset % total;
        size_t piece = MIN(size, total - at);
        if (load)
            memcpy((uint8_t *)stage->words + at, bytes, piece);
        else
            memcpy(bytes, (const uint8_t *)stage->words + at, piece);
        offset += piece;
        bytes += piece;
        size -= piece;
    }
}

void stage_load(struct stage *stage, uint64_t offset, const void *bytes, size_t size) {
    each_piece(stage, offset, (uint8_t *)bytes, size, true);
}

void stage_store(const struct stage *stage, uint64_t offset, void *bytes, size_t size) {
    each_piece(stage, offset, bytes, size, false);
}

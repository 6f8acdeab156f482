/* Placement of operand words in the L1 entries (compute-units §3.2, §3.3, §4.1). */
#include "units/cluster/cluster.h"

static void check_under_sweep(struct cluster *cluster, unsigned side, unsigned entry, cycle_t now) {
    unsigned g, h;
    if (sweep_will_read(cluster, side, entry, &g, &h))
        hazard_report(cluster->hazards, "cluster.fill_under_sweep", now, cluster->name,
                      "entry %u of bank %u, side %c, is overwritten while the running sweep still reads it, first for "
                      "sub-tile (%u,%u)",
                      entry % BANK_ENTRIES, entry / BANK_ENTRIES, side ? 'B' : 'A', g, h);
}

static void commit(struct cluster *cluster, unsigned side, unsigned entry, cycle_t now) {
    bit_set(cluster->written[side], entry);
    cluster->counts.entries_written++;
    cluster_event(cluster, "operand entry written", side, entry, now + 1);
}

/* Published hardware: one register collects the words; word 3 stores it under its entry's name. */
static bool place_register(struct cluster *cluster, unsigned side, unsigned entry, unsigned word,
                           const struct word256 *data, cycle_t now) {
    enum mxfp7_packing packing = side ? MXFP7_COLUMNS : MXFP7_ROWS;
    unsigned name = side * 2 * BANK_ENTRIES + entry;
    bool foreign = cluster->assembly_seen && cluster->assembly_entry != name;
    cluster->assembly_entry = name;
    cluster->assembly_seen |= 1u << word;
    if (foreign || (word == 3 && cluster->assembly_seen != 0xF))
        hazard_report(cluster->hazards, "cluster.entry_mixed", now, cluster->name,
                      "word %u of entry %u, side %c, meets words of another entry in the assembly register", word,
                      entry, side ? 'B' : 'A');
    mxfp7_place(&cluster->assembly, packing, word, data);
    if (word != 3)
        return false;
    cluster->assembly_seen = 0;
    cluster->store[side][entry] = cluster->assembly;
    check_under_sweep(cluster, side, entry, now);
    commit(cluster, side, entry, now);
    return true;
}

/* Places a word popped in cycle now; a sweep issue from now + 1 on sees it. True if it completed an entry. */
bool operand_place(struct cluster *cluster, unsigned side, unsigned entry, unsigned word, const struct word256 *data,
                   cycle_t now) {
    unsigned size = side ? cluster->params->l1_b : cluster->params->l1_a;
    entry %= size; /* a memory of 256 entries or fewer ignores the bank bit, and so on down (§2.2) */
    if (cluster->params->assembly == ASSEMBLY_REGISTER)
        return place_register(cluster, side, entry, word, data, now);
    mxfp7_place(&cluster->store[side][entry], side ? MXFP7_COLUMNS : MXFP7_ROWS, word, data);
    cluster->words_seen[side][entry] |= 1u << word;
    check_under_sweep(cluster, side, entry, now); /* a sweep may read it between its words */
    if (cluster->words_seen[side][entry] != 0xF)
        return false;
    cluster->words_seen[side][entry] = 0;
    commit(cluster, side, entry, now);
    return true;
}

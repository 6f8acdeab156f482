/* See keys.h. The table comes first; everything below it is generic. Figures are those of noc-and-memory §11.3,
 * compute-units §1.2 and workloads §8. */
#include "model/keys.h"

#include <math.h>
#include <string.h>

static const char *const preset_names[] = {"bench", "ship", NULL};
static const char *const attachment_names[] = {"converged", "per_port", NULL};
static const char *const binding_names[] = {"nearest", "balanced", "first", NULL};
static const char *const arbitration_names[] = {"free_running", "round_robin", "oldest_first", "matrix", NULL};
static const char *const routing_names[] = {"xy", "yx", "west_first", "odd_even", "table", NULL};
static const char *const topology_names[] = {"mesh", "torus", "concentrated", NULL};
static const char *const sweep_wait_names[] = {"retired", "issued", NULL};
static const char *const assembly_names[] = {"direct", "register", NULL};
static const char *const staging_names[] = {"off", "converged", "per_port", NULL};
static const char *const class_names[] = {"free", "class", "pair", NULL};

enum {
    TEXT_MAX = 4096,
    L1_ENTRIES_MAX = 512,    /* two banks of 256, compute-units §1.2 */
    CHANNEL_WORD_BITS = 256, /* noc-and-memory §1.3 */
};

/* The JSON path is the member's own name, and the type follows from the member. */
#define TYPE_OF(member)                                                                                                \
    _Generic(((struct machine *)0)->member, unsigned: KEY_UINT, uint64_t: KEY_UINT64, double: KEY_DOUBLE,              \
             bool: KEY_BOOL, char *: KEY_STRING, int: KEY_ENUM)
#define ROW(member, names, bench, ship, min, max, unit, sentence)                                                      \
    { #member, TYPE_OF(member), offsetof(struct machine, member), names, {bench, ship }, min, max, unit, sentence }
#define NUMBER(member, value, min, max, unit, sentence)       ROW(member, NULL, value, value, min, max, unit, sentence)
#define PRESET(member, bench, ship, min, max, unit, sentence) ROW(member, NULL, bench, ship, min, max, unit, sentence)
#define FLAG(member, value, sentence)                         ROW(member, NULL, value, value, 0, 1, "", sentence)
#define CHOICE(member, names, value, sentence)                ROW(member, names, value, value, 0, 0, "", sentence)
#define TEXT(member, sentence)                                ROW(member, NULL, 0, 0, 1, TEXT_MAX, "", sentence)

/* clang-format off */
const struct config_key machine_keys[] = {
    TEXT(name, "Name of the machine in results; the file's name when not given."),
    TEXT(description, "Free text for the reader; no effect."),
    CHOICE(preset, preset_names, PRESET_BENCH, "Where defaults come from: the modules' own with memory at once, or those of the generated ships. Keys given in the file go before it."),
    NUMBER(clock_mhz, 300, 0.001, 100000, "MHz", "Mesh clock; converts cycles to time and nanoseconds to cycles, nothing else."),
    FLAG(rtl_defects, 0, "Reproduce the known defects of the published hardware instead of the intended behaviour."),

    PRESET(noc.fifo_depth, 32, 512, 1, 65536, "flits", "Declared depth of a router's input FIFO."),
    NUMBER(noc.fall_through, 3, 1, 64, "cycles", "F: from writing a word into a FIFO until it can be read at the head; holds for every synchronous FIFO."),
    NUMBER(noc.fifo_extra, 2, 0, 64, "flits", "Words a synchronous FIFO holds beyond its declared depth."),
    NUMBER(noc.arbiter_phase, 0, 0, 4, "", "Pointer of every router output in cycle 0 of the run: 0 north, 1 east, 2 south, 3 west, 4 local."),
    NUMBER(noc.link_latency, 0, 0, 1024, "cycles", "Extra time on every link between two routers."),
    NUMBER(noc.link_width, 1, 1, 16, "flits", "Flits a link moves in link_period cycles."),
    NUMBER(noc.link_period, 1, 1, 1024, "cycles", "Time a flit occupies a link."),
    NUMBER(noc.pipeline, 0, 0, 64, "cycles", "Extra time between a router's holding slot and its output register."),
    NUMBER(noc.holding_slots, 1, 0, 16, "slots", "Routed flits waiting per input: 1 is the reference with head-of-line blocking, 0 means one per output."),
    NUMBER(noc.virtual_channels, 1, 1, 8, "channels", "Virtual channels per link."),
    CHOICE(noc.vc_by_class, class_names, 0, "How flits are dealt to virtual channels: freely (a pair of nodes may see its flits reordered), by message class, or by source and destination."),
    CHOICE(noc.arbitration, arbitration_names, ARBITRATION_FREE_RUNNING, "Output arbiter: a pointer that moves every cycle (reference), one that moves past the winner, oldest flit first, or a matrix arbiter."),
    CHOICE(noc.routing, routing_names, ROUTING_XY, "Route of a flit: x then y (reference), y then x, two adaptive turn models, or a table."),
    CHOICE(noc.topology, topology_names, TOPOLOGY_MESH, "Mesh, torus, or a mesh with several endpoints per router."),
    NUMBER(noc.concentration, 1, 1, 16, "endpoints", "Endpoints per router of a concentrated mesh."),
    FLAG(noc.force_deadlockable, 0, "Accept a routing whose channels can wait in a circle."),
    FLAG(noc.force_reordering, 0, "Accept a network that can reorder the flits of a pair of nodes."),
    TEXT(noc.routing_table, "File of the routing table, with noc.routing = table."),

    PRESET(endpoint.inst_depth, 32, 512, 1, 65536, "flits", "Instruction queue of a unit."),
    PRESET(endpoint.recv_depth, 16, 512, 1, 65536, "flits", "Receive queue of a unit: everything but instructions and control."),
    NUMBER(endpoint.completion_depth, 16, 1, 65536, "signals", "Completion queue of a unit."),

    FLAG(l2.clusters, 0, "A store of its own in the local link of every matmul cluster, which answers requests inside its window."),
    FLAG(l2.vectors, 0, "The same for every vector core."),
    FLAG(l2.enabled, 0, "The stores serve from the start; otherwise each is off until its control index 0xE2 is written."),
    NUMBER(l2.lines, 8192, 2, 1048576, "lines", "Size of such a store, in lines of 32 bytes; the top one is never used."),
    NUMBER(l2.window_bits, 18, 6, 36, "bits", "Its window of addresses: base to base + 2^bits."),
    NUMBER(l2.queue, 16, 4, 65536, "responses", "Queue toward the unit; three fewer are on their way at most."),
    NUMBER(l2.cluster_base, 4026531840.0, 0, 1099511627775.0, "bytes", "Where the clusters' window begins."),
    NUMBER(l2.vector_base, 4043309056.0, 0, 1099511627775.0, "bytes", "Where the vector cores' window begins."),

    NUMBER(agent.staging_flits, 128, 1, 65536, "flits", "Program staging RAM of the dispatch agent."),
    NUMBER(agent.commands, 128, 2, 65536, "commands", "Commands the control-program engine holds, the last of them DONE."),
    NUMBER(agent.poll_interval, 31, 1, 65536, "cycles", "Wait between two reads of a POLL."),
    NUMBER(agent.tx_depth, 16, 1, 65536, "flits", "Transmit queue of the dispatch agent."),
    FLAG(agent.wide_complex, 0, "64-bit control complex: the transform bank's registers are not connected, so that an occupant's fault can't be cleared."),
    NUMBER(agent.rx_depth, 16, 1, 65536, "flits", "Mailbox of the dispatch agent."),

    ROW(memory.attachment, attachment_names, MEMORY_PER_PORT, MEMORY_CONVERGED, 0, 0, "", "All requesters through one arbiter and crossing queues to one channel, or every requester on a channel of its own."),
    CHOICE(memory.binding, binding_names, BINDING_NEAREST, "Memory port of a unit that names none: the nearest (reference), the nearest with room in its equal share, or port 0."),
    PRESET(memory.latency, 1, 31, 0, 1000000, "cycles", "M: from an address accepted by the memory to its first beat."),
    NUMBER(memory.latency_ns, 0, 0, 1e6, "ns", "When above 0, memory.latency is this time in cycles of clock_mhz, rounded up."),
    PRESET(memory.channel_bits, 256, 512, 256, 2048, "bits", "MW: width of a memory channel, 256 or a power-of-two multiple."),
    NUMBER(memory.size, 4294967296.0, 4096, 68719476736.0, "bytes", "DRAM behind the mesh; addresses are taken modulo this."),
    NUMBER(memory.crossing, 8, 1, 1024, "cycles", "X: time through a clock-crossing FIFO of the converged attachment."),
    NUMBER(memory.queue_depth, 64, 1, 65536, "flits", "Intake queues of a memory port, one for reads, one for writes."),
    NUMBER(memory.queue_margin, 4, 0, 65535, "flits", "A memory port is busy when an intake queue is this close to full."),
    NUMBER(memory.write_slots, 16, 1, 64, "slots", "Open writes per memory port; two per writing unit or writes can deadlock."),
    NUMBER(memory.write_burst, 8, 1, 16, "words", "Words a unit collects into one write burst; 1 gives a descriptor per word."),
    NUMBER(memory.reads_in_flight, 1, 1, 64, "bursts", "Read bursts a requester may have in the memory path; a memory port asks for one at a time, the mover for several."),
    FLAG(memory.pipelined, 0, "The DRAM works on several bursts at once and moves one beat a cycle in all; otherwise one burst a direction, and the two don't disturb each other."),
    NUMBER(memory.address_queue, 16, 1, 65536, "addresses", "Crossing queues for read and for write addresses."),
    NUMBER(memory.write_queue, 64, 1, 65536, "beats", "Crossing queue for write data."),
    NUMBER(memory.read_queue, 64, 1, 65536, "beats", "Crossing queue for read data."),
    NUMBER(memory.response_queue, 16, 1, 65536, "responses", "Crossing queue for write responses."),
    NUMBER(memory.banks, 0, 0, 1024, "banks", "Banks of the row model; 0 keeps one fixed latency."),
    NUMBER(memory.row_bytes, 8192, 32, 1048576, "bytes", "Row of a bank, a power of two."),
    NUMBER(memory.row_hit, 31, 0, 1000000, "cycles", "Latency when the bank's row is open; used with banks."),
    NUMBER(memory.row_miss, 45, 0, 1000000, "cycles", "Latency when another row must be opened; used with banks."),
    NUMBER(memory.refresh_interval, 0, 0, 4294967295.0, "cycles", "Time between refreshes; 0 has none."),
    NUMBER(memory.refresh_cycles, 0, 0, 4294967295.0, "cycles", "Time a refresh holds the memory."),
    NUMBER(memory.words_per_cycle, 0, 0, 1024, "words/cycle", "Bandwidth limit of a channel; 0 is one beat a cycle."),
    FLAG(memory.fetch_transform, 0, "Convert FP16 operands on a unit's fetch: 8 memory words an entry instead of 4."),
    FLAG(memory.upload_transform, 0, "Convert FP16 operands on host upload."),
    TEXT(memory.occupants, "Occupants of the mover's transform slot, ids 1 up, separated by commas: quantiser (when not given), negate, identity, or none."),
    CHOICE(memory.staging, staging_names, STAGING_OFF, "Staging store (aperture 0): none, at the converged path, or inside each memory port."),
    NUMBER(memory.staging_entries, 16384, 1, 4194304, "entries", "Staging store, in entries of 128 bytes, a power of two."),
    NUMBER(memory.staging_banks, 4, 1, 64, "banks", "Banks of the staging store, a power of two."),
    FLAG(memory.split_pages, 1, "Split a unit's bursts that cross a 4 KB page; they are reported either way. The published agent passes them on whole."),
    FLAG(memory.serial_entries, 0, "Emit an entry whole before fetching the next one, as the baseline machine did."),

    NUMBER(cluster.l1_a, 512, 2, 1024, "entries", "Operand store of side A, both banks together, a power of two."),
    NUMBER(cluster.l1_b, 512, 2, 1024, "entries", "Operand store of side B, both banks together, a power of two."),
    NUMBER(cluster.tiles, 512, 1, 65536, "sub-tiles", "Resident tile in sub-tiles of 4 x 4 outputs, a power of two."),
    NUMBER(cluster.drain_queue, 128, 1, 65536, "words", "Drain queue between accumulator and burst collector."),
    NUMBER(cluster.drain_limit, 112, 1, 65536, "words", "A sweep is held when this many results wait in the drain queue."),
    NUMBER(cluster.accumulator_latency, 8, 2, 255, "cycles", "From an accumulator command that hands a result out to the result in the drain queue."),
    NUMBER(cluster.accumulator_bits, 14, 8, 16, "bits", "Fraction bits of the accumulator's format."),
    FLAG(cluster.double_rate, 0, "Run the array at twice the accumulator's clock."),
    FLAG(cluster.pacing, 1, "Hold issues of small tiles so that a sub-tile recurs no sooner than reuse_min cycles."),
    FLAG(cluster.blocking_sweep, 0, "Retire a GEMM when its sweep has ended instead of when it starts, as the baseline machine did."),
    CHOICE(cluster.sweep_wait, sweep_wait_names, SWEEP_WAIT_RETIRED, "What the next sweep waits for: the last one's results retired (reference), or issued."),
    CHOICE(cluster.assembly, assembly_names, ASSEMBLY_DIRECT, "Each operand word straight to its entry, or through one entry register as in the published hardware."),
    NUMBER(cluster.reuse_min, 5, 1, 64, "cycles", "Shortest time between two accumulations on one sub-tile."),
    FLAG(cluster.rendezvous, 0, "What-if: a shared FILL waits until every peer has reached it."),
    FLAG(cluster.forward, 0, "What-if: accumulator command FWD sends the raw partial."),
    FLAG(cluster.tensor_fill, 0, "What-if: a FILL described as an N-dimensional tensor."),
    FLAG(cluster.third_bank, 0, "What-if: a further bank bit, so that a side holds up to 1024 entries."),

    NUMBER(vector.l1_depth, 512, 16, 512, "words", "Local memory of a vector core in 256-bit words, a power of two."),
    NUMBER(vector.alu_depth, 15, 1, 30, "cycles", "Depth of one lane's arithmetic pipe; 14 without the operand register."),
    NUMBER(vector.imem_words_per_flit, 1, 1, 8, "words", "Instruction words a flit carries; more than 1 is a what-if."),
    FLAG(vector.has_expsum, 1, "The core has the exp-and-sum reduction; without it the instruction faults."),
    FLAG(vector.ack_rejected, 1, "A rejected burst that asks for it is acknowledged; the published hardware does not."),
    FLAG(vector.exp2_saturate, 0, "exp2 of 128 to 256 in magnitude gives infinity or 0; the published hardware wraps it."),
    FLAG(vector.poison, 0, "Fill registers and memories that have no reset value with a pattern instead of 0."),

    NUMBER(mover.index_words, 256, 1, 65536, "words", "Index buffer of the memory mover."),
    NUMBER(mover.fifo_depth, 512, 1, 65536, "words", "Data FIFO of the memory mover."),
    NUMBER(mover.command_depth, 128, 1, 65536, "commands", "Command queue of the memory mover."),
    NUMBER(mover.max_reads, 16, 1, 65536, "bursts", "Read bursts the mover may have in flight."),
    NUMBER(mover.max_writes, 32, 1, 65536, "bursts", "Write bursts the mover may have in flight."),
    NUMBER(mover.burst_max, 128, 1, 128, "words", "Longest burst of the mover; a page has 128 words."),

    NUMBER(interlink.rx_beats, 64, 1, 65536, "beats", "Receive FIFO of a link between meshes."),
    NUMBER(interlink.credit_batch, 8, 1, 65536, "beats", "Beats freed before their credit is sent back."),
    NUMBER(interlink.max_beats, 32, 1, 65536, "beats", "Longest packet between meshes."),
    NUMBER(interlink.pipe_stages, 0, 0, 1024, "cycles", "Register stages in a link between meshes; the ships that need them use 2."),
    FLAG(interlink.per_source, 0, "What-if: an encapsulator per source, so that overlapping remote bursts don't deadlock."),

    NUMBER(engine.routers_per_actor, 0, 0, 65536, "routers", "Routers hosted by one actor, 0: the program chooses. Never changes a result."),
    FLAG(engine.run_ahead, 1, "Actors run ahead of the clock while nothing can reach them. Never changes a result."),
    NUMBER(engine.threads, 1, 1, 256, "threads", "Threads that step the actors of one instant. Never changes a result."),
    NUMBER(engine.standstill_cycles, 10000, 100, 1e15, "cycles", "Time without any progress after which a run is called dead."),
};
/* clang-format on */

const size_t machine_key_count = G_N_ELEMENTS(machine_keys);

/* Keys of a machine file that are no parameters: what they hold is map.c's affair (schema: ours). */
static const struct {
    const char *name, *type, *sentence;
} shape_keys[] = {
    {"schema", "string", "Version of this format: \"" MACHINE_SCHEMA "\"."},
    {"map", "array", "The mesh as a picture: one text a row, three-letter tokens."},
    {"map_file", "string", "The same picture in a plain text file, named relative to this file."},
    {"mesh", "object", "Instead of a picture: {\"columns\": W, \"rows\": H} routers, with units and ports listed."},
    {"units", "array", "With mesh: {\"type\", \"x\", \"y\"} and optionally \"port\" and \"name\" for each unit."},
    {"ports", "array", "With mesh: {\"x\", \"y\"} of each memory port; port 0 is the first."},
    {"bare", "boolean", "With mesh: nothing but a traffic source and a sink at every router."},
    {"meshes", "array",
     "Instead of one mesh 2 to 4, each an object with map, map_file or mesh, joined by the interlink."},
    {"line", "array",
     "With meshes: their numbers in the order in which they are joined; [0, 1, 3, 2] for four when not given."},
    {"tokens", "object", "Further tokens of the picture: {\"sax\": \"saxpy\"} names a unit type."},
    {"plugins", "array", "Shared objects that bring unit types, named relative to this file."},
};

/* ---- finding and setting ---- */

const struct config_key *key_find(const char *path) {
    for (size_t i = 0; i < machine_key_count; i++)
        if (g_str_equal(machine_keys[i].path, path))
            return &machine_keys[i];
    return NULL;
}

static void *member(const struct config_key *key, void *object) {
    return (char *)object + key->offset;
}

static void set_number(const struct config_key *key, void *object, double value) {
    void *place = member(key, object);
    switch (key->type) {
    case KEY_UINT:
        *(unsigned *)place = (unsigned)value;
        break;
    case KEY_UINT64:
        *(uint64_t *)place = (uint64_t)value;
        break;
    case KEY_DOUBLE:
        *(double *)place = value;
        break;
    case KEY_BOOL:
        *(bool *)place = value != 0;
        break;
    case KEY_ENUM:
        *(int *)place = (int)value;
        break;
    case KEY_STRING:
        g_clear_pointer((char **)place, g_free);
        break;
    }
}

static double get_number(const struct config_key *key, const void *object) {
    const void *place = (const char *)object + key->offset;
    switch (key->type) {
    case KEY_UINT:
        return *(const unsigned *)place;
    case KEY_UINT64:
        return (double)*(const uint64_t *)place;
    case KEY_DOUBLE:
        return *(const double *)place;
    case KEY_BOOL:
        return *(const bool *)place;
    case KEY_ENUM:
        return *(const int *)place;
    case KEY_STRING:
        return *(char *const *)place != NULL;
    }
    return 0;
}

void keys_defaults(struct machine *machine, enum machine_preset preset) {
    for (size_t i = 0; i < machine_key_count; i++)
        set_number(&machine_keys[i], machine, machine_keys[i].defaults[preset]);
    machine->preset = preset;
}

void keys_copy(struct machine *machine, const struct machine *from) {
    for (size_t i = 0; i < machine_key_count; i++) {
        const struct config_key *key = &machine_keys[i];
        set_number(key, machine, get_number(key, from));
        if (key->type == KEY_STRING)
            *(char **)member(key, machine) = g_strdup(*(char *const *)((const char *)from + key->offset));
    }
}

void keys_clear(struct machine *machine) {
    for (size_t i = 0; i < machine_key_count; i++)
        if (machine_keys[i].type == KEY_STRING)
            set_number(&machine_keys[i], machine, 0);
}

/* ---- reading one value ---- */

static char *number_text(double value) {
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    if (value == floor(value) && fabs(value) <= 9007199254740992.0)
        return g_strdup_printf("%.0f", value);
    return g_strdup(g_ascii_formatd(buffer, sizeof buffer, "%.12g", value));
}

/* "a whole number 1..65536 (flits)", "one of …", for messages and the reference page. */
char *key_expected_text(const struct config_key *key) {
    g_autofree char *min = number_text(key->min), *max = number_text(key->max);
    g_autofree char *unit = key->unit[0] ? g_strdup_printf(" %s", key->unit) : g_strdup("");
    switch (key->type) {
    case KEY_BOOL:
        return g_strdup("true or false");
    case KEY_ENUM: {
        g_autofree char *names = g_strjoinv(", ", (char **)key->names);
        return g_strdup_printf("one of %s", names);
    }
    case KEY_STRING:
        return g_strdup_printf("a text of %s..%s bytes", min, max);
    case KEY_DOUBLE:
        return g_strdup_printf("a number %s..%s%s", min, max, unit);
    default: {
        g_autofree char *words = key->names ? g_strjoinv(", ", (char **)key->names) : NULL;
        return g_strdup_printf("a whole number %s..%s%s%s%s", min, max, unit, words ? " or " : "", words ? words : "");
    }
    }
}

/* The value given, shortened, for messages. */
static char *given_text(const json_t *value) {
    g_autofree char *text = NULL;
    if (json_is_object(value) || json_is_array(value))
        return g_strdup(json_kind(value));
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
    text = g_strdup(dump);
    free(dump);
    if (text && g_utf8_strlen(text, -1) > 60) {
        g_autofree char *start = g_utf8_substring(text, 0, 57);
        return g_strconcat(start, "...", NULL);
    }
    return g_steal_pointer(&text);
}

/* The first word of a number's key stands for max + 1, the next for max + 2. */
static bool word_value(const struct config_key *key, const char *word, double *number) {
    for (int i = 0; key->names[i]; i++)
        if (g_str_equal(key->names[i], word)) {
            *number = key->max + 1 + i;
            return true;
        }
    return false;
}

/* The word that a number stands for, or NULL. */
static const char *word_of(const struct config_key *key, double number) {
    return key->type == KEY_UINT && key->names && number > key->max ? key->names[(int)(number - key->max - 1)] : NULL;
}

/* The number behind a JSON value of the key's type; false when it is of another type or out of range. */
static bool number_of(const struct config_key *key, const json_t *value, double *number) {
    switch (key->type) {
    case KEY_UINT:
        if (key->names && json_is_string(value))
            return word_value(key, json_string_value(value), number);
        /* fall through */
    case KEY_UINT64:
        *number = (double)json_integer_value(value);
        return json_is_integer(value) && *number >= key->min && *number <= key->max;
    case KEY_DOUBLE:
        *number = json_number_value(value);
        return json_is_number(value) && *number >= key->min && *number <= key->max;
    case KEY_BOOL:
        *number = json_is_true(value);
        return json_is_boolean(value);
    case KEY_ENUM:
        *number = 0;
        for (int i = 0; json_is_string(value) && key->names[i]; i++)
            if (g_str_equal(key->names[i], json_string_value(value))) {
                *number = i;
                return true;
            }
        return false;
    case KEY_STRING:
        return json_is_string(value) && json_string_length(value) >= key->min && json_string_length(value) <= key->max;
    }
    return false;
}

static const char *nearest_name(const struct config_key *key, const json_t *value) {
    if (key->type != KEY_ENUM || !json_is_string(value))
        return NULL;
    return nearest_word(json_string_value(value), key->names, g_strv_length((char **)key->names));
}

bool key_read(const struct json_source *source, const struct config_key *key, const char *path, const json_t *value,
              void *object, GError **error) {
    double number = 0;
    if (!number_of(key, value, &number)) {
        g_autofree char *given = given_text(value), *expected = key_expected_text(key);
        const char *nearest = nearest_name(key, value);
        return json_source_error(source, error, JSON_PLACE_VALUE, path, 0, "is %s, expected %s%s%s%s", given, expected,
                                 nearest ? " (nearest: " : "", nearest ? nearest : "", nearest ? ")" : "");
    }
    set_number(key, object, number);
    if (key->type == KEY_STRING)
        *(char **)member(key, object) = g_strdup(json_string_value(value));
    return true;
}

void key_set_default(const struct config_key *key, void *object) {
    set_number(key, object, key->defaults[0]);
}

/* ---- reading all ---- */

static bool is_shape_key(const char *path) {
    for (size_t i = 0; i < G_N_ELEMENTS(shape_keys); i++)
        if (g_str_equal(shape_keys[i].name, path))
            return true;
    return false;
}

/* "noc" of "noc.fifo_depth". */
static bool is_group(const char *path) {
    gsize length = strlen(path);
    for (size_t i = 0; i < machine_key_count; i++)
        if (strncmp(machine_keys[i].path, path, length) == 0 && machine_keys[i].path[length] == '.')
            return true;
    return false;
}

/* The known key a user most likely meant: the same last name elsewhere, else the nearest spelling. */
static char *nearest_key(const char *path) {
    GPtrArray *known = g_ptr_array_new_with_free_func(g_free);
    const char *leaf = strrchr(path, '.') ? strrchr(path, '.') + 1 : path;
    char *found = NULL;
    for (size_t i = 0; i < machine_key_count; i++) {
        const char *dot = strchr(machine_keys[i].path, '.');
        g_ptr_array_add(known, g_strdup(machine_keys[i].path));
        if (dot) { /* the group itself; given again it does no harm */
            g_ptr_array_add(known, g_strndup(machine_keys[i].path, (gsize)(dot - machine_keys[i].path)));
            if (!found && g_str_equal(dot + 1, leaf))
                found = g_strdup(machine_keys[i].path);
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(shape_keys); i++)
        g_ptr_array_add(known, g_strdup(shape_keys[i].name));
    const char *near = nearest_word(path, (const char *const *)known->pdata, known->len);
    if (!found)
        found = g_strdup(near);
    g_ptr_array_unref(known);
    return found;
}

static bool unknown_key(const struct json_source *source, const char *path, GError **error) {
    g_autofree char *near = nearest_key(path);
    return json_source_error(source, error, JSON_PLACE_KEY, path, 0, "unknown key, expected %s%s",
                             near ? "perhaps " : "a key of docs/configuration.md", near ? near : "");
}

static bool read_object(const struct json_source *source, json_t *object, const char *path, struct machine *machine,
                        GError **error) {
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        g_autofree char *below = json_path_key(path, name);
        const struct config_key *key = key_find(below);
        if (key) {
            if (!key_read(source, key, key->path, value, machine, error))
                return false;
        } else if (is_group(below)) {
            if (!json_is_object(value))
                return json_source_error(source, error, JSON_PLACE_VALUE, below, 0, "is %s, expected an object of keys",
                                         json_kind(value));
            if (!read_object(source, value, below, machine, error))
                return false;
        } else if (!is_shape_key(below)) {
            return unknown_key(source, below, error);
        }
    }
    return true;
}

static bool check_schema(const struct json_source *source, GError **error) {
    const json_t *schema = json_object_get(source->root, "schema");
    if (!schema || (json_is_string(schema) && g_str_equal(json_string_value(schema), MACHINE_SCHEMA)))
        return true;
    g_autofree char *given = given_text(schema);
    return json_source_error(source, error, JSON_PLACE_VALUE, "schema", 0, "is %s, expected \"%s\"", given,
                             MACHINE_SCHEMA);
}

/* ns to cycles, rounded up; a result that is whole but for the last bits of the product counts as whole. */
static bool latency_from_ns(const struct json_source *source, struct machine *machine, GError **error) {
    const struct config_key *latency = key_find("memory.latency");
    double cycles = ceil(machine->memory.latency_ns * machine->clock_mhz / 1000.0 - 1e-9);
    if (machine->memory.latency_ns <= 0)
        return true;
    if (cycles > latency->max)
        return json_source_error(source, error, JSON_PLACE_VALUE, "memory.latency_ns", 0,
                                 "is %g ns at clock_mhz %g, %.0f cycles, expected at most %.0f cycles",
                                 machine->memory.latency_ns, machine->clock_mhz, cycles, latency->max);
    machine->memory.latency = (unsigned)cycles;
    return true;
}

bool keys_parse(const struct json_source *source, struct machine *machine, GError **error) {
    const json_t *preset = json_object_get(source->root, "preset");
    if (!check_schema(source, error) ||
        (preset && !key_read(source, key_find("preset"), "preset", preset, machine, error)))
        return false;
    keys_defaults(machine, (enum machine_preset)machine->preset);
    return read_object(source, source->root, "", machine, error) && latency_from_ns(source, machine, error);
}

/* ---- relations ---- */

/* Parameters that must be powers of two, as multiples of `unit`. */
static const struct {
    const char *path;
    unsigned unit;
} power_keys[] = {
    {"cluster.tiles", 1},        {"cluster.l1_a", 1},
    {"cluster.l1_b", 1},         {"vector.l1_depth", 1},
    {"memory.row_bytes", 1},     {"memory.staging_entries", 1},
    {"memory.staging_banks", 1}, {"memory.channel_bits", CHANNEL_WORD_BITS},
};

/* Pairs of which the first must not be larger (or, strict, must be smaller) than the second. */
static const struct {
    const char *small, *large;
    bool strict;
    const char *unless_zero; /* the rule holds only while this parameter is not 0; NULL: always */
} order_keys[] = {
    {"memory.queue_margin", "memory.queue_depth", true, NULL},
    {"cluster.drain_limit", "cluster.drain_queue", false, NULL},
    {"memory.staging_banks", "memory.staging_entries", false, NULL},
    {"memory.row_hit", "memory.row_miss", false, "memory.banks"},
    {"memory.refresh_cycles", "memory.refresh_interval", true, "memory.refresh_cycles"},
    {"interlink.max_beats", "interlink.rx_beats", false, NULL},
    {"interlink.credit_batch", "interlink.rx_beats", false, NULL},
};

static bool check_powers(const struct json_source *source, const struct machine *machine, GError **error) {
    for (size_t i = 0; i < G_N_ELEMENTS(power_keys); i++) {
        const struct config_key *key = key_find(power_keys[i].path);
        uint64_t value = (uint64_t)get_number(key, machine), unit = power_keys[i].unit, times = value / unit;
        if (value % unit || !times || (times & (times - 1)))
            return json_source_error(source, error, JSON_PLACE_VALUE, key->path, 0,
                                     "is %" G_GUINT64_FORMAT ", expected a power of two%s", value,
                                     unit > 1 ? " times 256 bits" : "");
    }
    return true;
}

/* `a` when the file gives it, else `b`: the message points at something the user wrote. */
static const char *given_of(const struct json_source *source, const char *a, const char *b) {
    g_autofree char *group = g_strndup(a, strcspn(a, "."));
    return json_object_get(json_object_get(source->root, group), strchr(a, '.') + 1) ? a : b;
}

static bool check_orders(const struct json_source *source, const struct machine *machine, GError **error) {
    for (size_t i = 0; i < G_N_ELEMENTS(order_keys); i++) {
        const struct config_key *small = key_find(order_keys[i].small), *large = key_find(order_keys[i].large);
        double a = get_number(small, machine), b = get_number(large, machine);
        bool strict = order_keys[i].strict;
        if (order_keys[i].unless_zero && get_number(key_find(order_keys[i].unless_zero), machine) == 0)
            continue;
        if (strict ? a >= b : a > b)
            return json_source_error(source, error, JSON_PLACE_VALUE, given_of(source, small->path, large->path), 0,
                                     "%s is %.0f and %s is %.0f, expected the first to be %s", small->path, a,
                                     large->path, b, strict ? "smaller" : "no larger");
    }
    return true;
}

/* compute-units §1.2: fields name two banks of 256 entries; a deeper store has entries nobody can reach. */
static bool check_l1(const struct json_source *source, const struct machine *machine, GError **error) {
    static const char *const sides[] = {"cluster.l1_a", "cluster.l1_b"};
    for (size_t i = 0; i < G_N_ELEMENTS(sides); i++) {
        double entries = get_number(key_find(sides[i]), machine);
        if (entries > L1_ENTRIES_MAX && !machine->cluster.third_bank)
            return json_source_error(
                source, error, JSON_PLACE_VALUE, sides[i], 0,
                "build.l1_bank: %.0f entries need a third bank bit, which does not exist, expected "
                "at most %d (cluster.third_bank is false)",
                entries, L1_ENTRIES_MAX);
    }
    return true;
}

static bool check_noc(const struct json_source *source, const struct machine *machine, GError **error) {
    const struct noc_params *noc = &machine->noc;
    if ((noc->routing == ROUTING_TABLE) != (noc->routing_table != NULL))
        return json_source_error(
            source, error, JSON_PLACE_VALUE, noc->routing_table ? "noc.routing_table" : "noc.routing", 0,
            "noc.routing is %s and noc.routing_table is %s, expected table with a file, or neither",
            routing_names[noc->routing], noc->routing_table ? noc->routing_table : "not given");
    if ((noc->topology == TOPOLOGY_CONCENTRATED) != (noc->concentration > 1))
        return json_source_error(source, error, JSON_PLACE_VALUE, given_of(source, "noc.concentration", "noc.topology"),
                                 0,
                                 "noc.topology is %s and noc.concentration is %u, expected concentrated with more than "
                                 "1, or another with 1",
                                 topology_names[noc->topology], noc->concentration);
    return true;
}

bool keys_check(const struct json_source *source, const struct machine *machine, GError **error) {
    return check_l1(source, machine, error) && check_powers(source, machine, error) &&
           check_orders(source, machine, error) && check_noc(source, machine, error);
}

/* ---- writing ---- */

static char *value_text(const struct config_key *key, double number) {
    if (key->type == KEY_BOOL)
        return g_strdup(number != 0 ? "true" : "false");
    if (key->type == KEY_ENUM)
        return g_strdup_printf("\"%s\"", key->names[(int)number]);
    if (key->type == KEY_STRING)
        return g_strdup("");
    return number_text(number);
}

char *key_text(const struct config_key *key, const struct machine *machine) {
    const char *text = key->type == KEY_STRING ? *(char *const *)((const char *)machine + key->offset) : NULL;
    return text ? g_strdup(text) : value_text(key, get_number(key, machine));
}

json_t *key_json(const struct config_key *key, const void *object) {
    double number = get_number(key, object);
    switch (key->type) {
    case KEY_BOOL:
        return json_boolean(number != 0);
    case KEY_ENUM:
        return json_string(key->names[(int)number]);
    case KEY_STRING:
        return json_string(*(char *const *)((const char *)object + key->offset));
    case KEY_DOUBLE:
        return json_real(number);
    default:
        return word_of(key, number) ? json_string(word_of(key, number)) : json_integer((json_int_t)number);
    }
}

char *key_default_text(const struct config_key *key, enum machine_preset preset) {
    return value_text(key, key->defaults[preset]);
}

bool key_is_default(const struct config_key *key, const struct machine *machine) {
    return get_number(key, machine) == key->defaults[machine->preset];
}

static const char *schema_type(enum key_type type) {
    static const char *const types[] = {
        [KEY_UINT] = "integer", [KEY_UINT64] = "integer", [KEY_DOUBLE] = "number",
        [KEY_BOOL] = "boolean", [KEY_ENUM] = "string",    [KEY_STRING] = "string",
    };
    return types[type];
}

static json_t *schema_number(double value) {
    return value == floor(value) ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *schema_of_key(const struct config_key *key) {
    json_t *schema = json_pack("{s:s, s:s}", "type", schema_type(key->type), "description", key->sentence);
    if (key->type == KEY_ENUM) {
        json_t *names = json_array();
        for (int i = 0; key->names[i]; i++)
            json_array_append_new(names, json_string(key->names[i]));
        json_object_set_new(schema, "enum", names);
        json_object_set_new(schema, "default", json_string(key->names[(int)key->defaults[PRESET_BENCH]]));
    } else if (key->type == KEY_BOOL) {
        json_object_set_new(schema, "default", json_boolean(key->defaults[PRESET_BENCH] != 0));
    } else if (key->type == KEY_STRING) {
        json_object_set_new(schema, "minLength", schema_number(key->min));
        json_object_set_new(schema, "maxLength", schema_number(key->max));
    } else {
        json_object_set_new(schema, "minimum", schema_number(key->min));
        json_object_set_new(schema, "maximum", schema_number(key->max));
        json_object_set_new(schema, "default", schema_number(key->defaults[PRESET_BENCH]));
    }
    return schema;
}

/* The "properties" of the group a path belongs to, made on first use. */
static json_t *schema_group(json_t *properties, const char *path) {
    const char *dot = strchr(path, '.');
    if (!dot)
        return properties;
    g_autofree char *name = g_strndup(path, (gsize)(dot - path));
    if (!json_object_get(properties, name))
        json_object_set_new(properties, name,
                            json_pack("{s:s, s:b, s:{}}", "type", "object", "additionalProperties", 0, "properties"));
    return json_object_get(json_object_get(properties, name), "properties");
}

char *config_schema(void) {
    json_t *properties = json_object();
    for (size_t i = 0; i < G_N_ELEMENTS(shape_keys); i++)
        json_object_set_new(properties, shape_keys[i].name,
                            json_pack("{s:s, s:s}", "type", shape_keys[i].type, "description", shape_keys[i].sentence));
    for (size_t i = 0; i < machine_key_count; i++) {
        const struct config_key *key = &machine_keys[i];
        const char *dot = strchr(key->path, '.');
        json_object_set_new(schema_group(properties, key->path), dot ? dot + 1 : key->path, schema_of_key(key));
    }
    json_t *schema =
        json_pack("{s:s, s:s, s:s, s:b, s:o}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title",
                  MACHINE_SCHEMA, "type", "object", "additionalProperties", 0, "properties", properties);
    char *dump = json_dumps(schema, JSON_INDENT(2));
    char *text = g_strconcat(dump, "\n", NULL);
    free(dump);
    json_decref(schema);
    return text;
}

static const char reference_head[] =
    "# The machine file\n\n"
    "Made from the table in `model/keys.c` by `flitsim describe --keys`; don't edit it here.\n\n"
    "A machine file is one JSON object. It says where things stand in one of three ways (`map`, `map_file` or `mesh`) "
    "and\n"
    "names the parameters that are to differ from the defaults of its `preset`. `--set PATH=VALUE` reaches every key,\n"
    "with or without `machine.` before it; VALUE is JSON, and a bare word is a text.\n\n"
    "## Where things stand\n\n"
    "| key | type | what it is |\n|---|---|---|\n";

static const char reference_map[] =
    "\nTokens of a picture, separated by blanks or dashes; the first and last row and column are the edges of the "
    "mesh, the\n"
    "rest are routers at (1, 1) and on, x eastward, y southward:\n\n"
    "| token | what stands there |\n|---|---|\n"
    "| `xxx`, `...` | nothing; obligatory in the four corners |\n"
    "| `nul` | a link end that is tied off |\n"
    "| `mag` | a memory port, on an edge, 1 to 4 of them; the first in reading order is port 0 and the dispatch "
    "agent's |\n"
    "| `mat` | a matmul cluster |\n"
    "| `vec` | a vector core |\n\n"
    "Units are numbered in reading order within their type. A unit uses the memory port at the smallest Manhattan\n"
    "distance (ties: the lower port) unless `memory.binding` or its own `port` says otherwise. A mesh has at most 14 x "
    "14\n"
    "routers, a bare one 256 x 256.\n\n"
    "## Parameters\n\n"
    "Where the presets differ, the default is given as bench / ship.\n\n"
    "| key | default | range | what it models |\n|---|---|---|---|\n";

static char *reference_row(const struct config_key *key) {
    g_autofree char *bench = key_default_text(key, PRESET_BENCH), *ship = key_default_text(key, PRESET_SHIP);
    g_autofree char *expected = key_expected_text(key);
    bool same = g_str_equal(bench, ship);
    return g_strdup_printf("| `%s` | %s%s%s | %s | %s |\n", key->path, bench, same ? "" : " / ", same ? "" : ship,
                           expected, key->sentence);
}

char *config_reference(void) {
    GString *page = g_string_new(reference_head);
    for (size_t i = 0; i < G_N_ELEMENTS(shape_keys); i++)
        g_string_append_printf(page, "| `%s` | %s | %s |\n", shape_keys[i].name, shape_keys[i].type,
                               shape_keys[i].sentence);
    g_string_append(page, reference_map);
    for (size_t i = 0; i < machine_key_count; i++) {
        g_autofree char *row = reference_row(&machine_keys[i]);
        g_string_append(page, row);
    }
    return g_string_free(page, FALSE);
}

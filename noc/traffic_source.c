/* Patterns and injection processes; see traffic_source.h. The random numbers are those of the reference's source
 * model: a 64-bit xorshift per node, one draw a cycle for the rate, a further one for a destination. */
#include "noc/traffic_source.h"

#include <math.h>
#include <string.h>

#include "model/error.h"

enum {
    DRAW_BITS = 53, /* of a number that is compared with a probability */
    DRAW_SHIFT = 64 - DRAW_BITS,
    DRAW_NODES = 256, /* drawn for at a time */
    INDEX_SHIFT = 33, /* of a number that chooses among few */
    MIXHOT_CYCLE = 4, /* every fourth message of mixhot, on average, goes to the port */
};

static const uint64_t node_seed = UINT64_C(0x9E3779B97F4A7C15);

static const char *const names[] = {
    [TRAFFIC_UNIFORM] = "uniform",
    [TRAFFIC_TRANSPOSE] = "transpose",
    [TRAFFIC_BIT_COMPLEMENT] = "bit_complement",
    [TRAFFIC_BIT_REVERSE] = "bit_reverse",
    [TRAFFIC_SHUFFLE] = "shuffle",
    [TRAFFIC_TORNADO] = "tornado",
    [TRAFFIC_NEIGHBOUR] = "neighbour",
    [TRAFFIC_HOTSPOT] = "hotspot",
    [TRAFFIC_PERMUTATION] = "permutation",
    [TRAFFIC_ROWPORT] = "rowport",
    [TRAFFIC_RANDPORT] = "randport",
    [TRAFFIC_MIXHOT] = "mixhot",
    [TRAFFIC_TRACE] = "trace",
};

const char *traffic_pattern_name(unsigned pattern) {
    return pattern < TRAFFIC_PATTERNS ? names[pattern] : NULL;
}

bool traffic_pattern_parse(const char *name, int *pattern) {
    for (int i = 0; i < TRAFFIC_PATTERNS; i++)
        if (strcmp(names[i], name) == 0) {
            *pattern = i;
            return true;
        }
    return false;
}

/* ---- places ---- */

void places_init(struct places *places, unsigned nx, unsigned ny) {
    *places = (struct places){.nx = nx, .ny = ny, .nodes = nx * ny, .count = nx * ny + 2 * (nx + ny)};
}

void place_coordinates(const struct places *places, uint32_t place, unsigned *x, unsigned *y) {
    unsigned nx = places->nx, ny = places->ny;
    if (place < places->nodes) {
        *x = place % nx + 1;
        *y = place / nx + 1;
        return;
    }
    place -= places->nodes;
    if (place < ny) { /* west */
        *x = 0;
        *y = place + 1;
    } else if (place < ny + nx) { /* north */
        *x = place - ny + 1;
        *y = 0;
    } else if (place < 2 * ny + nx) { /* east */
        *x = nx + 1;
        *y = place - ny - nx + 1;
    } else { /* south */
        *x = place - 2 * ny - nx + 1;
        *y = ny + 1;
    }
}

bool place_number(const struct places *places, unsigned x, unsigned y, uint32_t *place) {
    unsigned nx = places->nx, ny = places->ny;
    bool column = x >= 1 && x <= nx, row = y >= 1 && y <= ny;
    if (column && row)
        *place = (y - 1) * nx + x - 1;
    else if (row && x == 0)
        *place = places->nodes + y - 1;
    else if (column && y == 0)
        *place = places->nodes + ny + x - 1;
    else if (row && x == nx + 1)
        *place = places->nodes + ny + nx + y - 1;
    else if (column && y == ny + 1)
        *place = places->nodes + 2 * ny + nx + x - 1;
    else
        return false;
    return true;
}

/* ---- the source ---- */

struct traffic_source {
    struct traffic_params params;
    struct places places;
    uint64_t *state;    /* of the generator, a node each */
    uint32_t *fixed;    /* destination of patterns that don't draw one; PLACE_NONE: silent */
    bool *on;           /* on-off injection */
    uint64_t threshold; /* a message is generated when a draw is below */
    uint64_t leave_on, leave_off;
    uint32_t *hot;       /* places of the hot spots */
    uint64_t *hot_until; /* cumulative weights as draws */
    uint64_t hot_share;
    cycle_t next, end;
    uint64_t number;
    unsigned silent;
};

static uint64_t draw(uint64_t *state) {
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

/* Smallest whole number a draw has to be below to come with the probability; exact, as scaling is. */
static uint64_t as_draw(double probability) {
    return (uint64_t)ceil(ldexp(probability, DRAW_BITS));
}

static bool below(uint64_t *state, uint64_t threshold) {
    return draw(state) >> DRAW_SHIFT < threshold;
}

static uint64_t start_value(uint64_t seed, uint64_t index) {
    uint64_t x = node_seed * (index + 1);
    if (seed) { /* spread the seed over all bits */
        uint64_t z = seed * UINT64_C(0xD1342543DE82EF95) + x;
        z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
        x = z ^ z >> 31;
    }
    return x ? x : node_seed;
}

static uint32_t uniform(const struct traffic_source *source, uint32_t node, uint64_t *state) {
    uint32_t other = (uint32_t)((draw(state) >> INDEX_SHIFT) % (source->places.nodes - 1));
    return other + (other >= node);
}

static uint32_t hotspot(const struct traffic_source *source, uint32_t node, uint64_t *state) {
    if (source->params.hotspot_share < 1 && !below(state, source->hot_share))
        return uniform(source, node, state);
    unsigned count = source->params.hotspot_count;
    if (count < 2)
        return source->hot[0];
    uint64_t value = draw(state) >> DRAW_SHIFT;
    for (unsigned i = 0; i + 1 < count; i++)
        if (value < source->hot_until[i])
            return source->hot[i];
    return source->hot[count - 1];
}

static uint32_t destination(const struct traffic_source *source, uint32_t node) {
    uint64_t *state = &source->state[node];
    switch (source->params.pattern) {
    case TRAFFIC_UNIFORM:
        return uniform(source, node, state);
    case TRAFFIC_HOTSPOT:
        return hotspot(source, node, state);
    case TRAFFIC_RANDPORT:
        return source->places.nodes + (uint32_t)((draw(state) >> INDEX_SHIFT) % source->places.ny);
    case TRAFFIC_MIXHOT:
        return (draw(state) >> INDEX_SHIFT) % MIXHOT_CYCLE ? source->fixed[node] : source->places.nodes;
    default:
        return source->fixed[node];
    }
}

/* ---- checks and preparation ---- */

static bool refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool refuse(GError **error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, FS_ERROR, FS_ERROR_INPUT, text);
    g_free(text);
    return false;
}

static bool check_rate(const struct traffic_params *params, GError **error) {
    if (!(params->rate >= 0 && params->rate <= 1))
        return refuse(error, "rate: %g is not a load, expected 0..1 flits per node and cycle", params->rate);
    if (params->message_flits < 1)
        return refuse(error, "message_flits: 0 is not a message, expected at least 1 flit");
    if (!(params->off_cycles >= 0 && isfinite(params->off_cycles)))
        return refuse(error, "off_cycles: %g is not a length, expected 0 or more cycles", params->off_cycles);
    if (params->off_cycles == 0)
        return true;
    if (!(params->on_cycles >= 1 && isfinite(params->on_cycles)) || params->off_cycles < 1)
        return refuse(error, "on_cycles %g, off_cycles %g: both must be at least 1 cycle", params->on_cycles,
                      params->off_cycles);
    double busy = params->rate * (params->on_cycles + params->off_cycles) / params->on_cycles;
    if (busy > params->message_flits)
        return refuse(error,
                      "rate %g with on_cycles %g and off_cycles %g needs %g messages a cycle in a burst, expected at "
                      "most 1",
                      params->rate, params->on_cycles, params->off_cycles, busy / params->message_flits);
    return true;
}

static bool check_window(const struct traffic_params *params, GError **error) {
    static const cycle_t most = UINT64_C(1) << 50;
    if (params->measure_cycles < 1)
        return refuse(error, "measure_cycles: the window is empty, expected at least 1 cycle");
    if (params->warmup_cycles > most || params->measure_cycles > most || params->drain_cycles > most)
        return refuse(error, "warmup_cycles, measure_cycles, drain_cycles: expected at most 2^50 cycles each");
    cycle_t all = params->warmup_cycles + params->measure_cycles + params->drain_cycles;
    if (params->interval_cycles && all / params->interval_cycles > 1000000)
        return refuse(error, "interval_cycles: %" G_GUINT64_FORMAT " cuts the run into more than a million intervals",
                      params->interval_cycles);
    return true;
}

static bool check_shape(const struct traffic_params *params, const struct places *places, GError **error) {
    const char *name = names[params->pattern];
    bool bits = params->pattern == TRAFFIC_BIT_REVERSE || params->pattern == TRAFFIC_SHUFFLE;
    bool pairs = params->pattern == TRAFFIC_NEIGHBOUR || params->pattern == TRAFFIC_MIXHOT;
    bool others =
        params->pattern == TRAFFIC_UNIFORM || (params->pattern == TRAFFIC_HOTSPOT && params->hotspot_share < 1);
    if (params->pattern == TRAFFIC_TRANSPOSE && places->nx != places->ny)
        return refuse(error, "pattern %s needs as many columns as rows, the mesh has %u and %u", name, places->nx,
                      places->ny);
    if (bits && (places->nodes & (places->nodes - 1)))
        return refuse(error, "pattern %s needs a power of two of nodes, the mesh has %u", name, places->nodes);
    if (pairs && places->nx % 2)
        return refuse(error, "pattern %s pairs columns and needs an even number of them, the mesh has %u", name,
                      places->nx);
    if (others && places->nodes < 2)
        return refuse(error, "pattern %s needs another node to send to, the mesh has 1", name);
    return true;
}

static uint32_t rotate_bits(uint32_t node, uint32_t nodes) {
    uint32_t left = node << 1;
    return nodes < 2 ? node : (left & (nodes - 1)) | (left >= nodes);
}

static uint32_t reverse_bits(uint32_t node, uint32_t nodes) {
    uint32_t reversed = 0;
    for (uint32_t bit = 1, mirror = nodes >> 1; bit < nodes; bit <<= 1, mirror >>= 1)
        if (node & bit)
            reversed |= mirror;
    return reversed;
}

/* Half a ring less one, in each dimension. */
static uint32_t tornado(const struct places *places, uint32_t node) {
    unsigned x = node % places->nx, y = node / places->nx;
    x = (x + (places->nx + 1) / 2 - 1) % places->nx;
    y = (y + (places->ny + 1) / 2 - 1) % places->ny;
    return y * places->nx + x;
}

/* Where a node sends if that needs no draw. Itself: silent, but for a given permutation or hot spot. */
static uint32_t fixed_destination(const struct traffic_source *source, uint32_t node) {
    const struct places *places = &source->places;
    uint32_t x = node % places->nx, y = node / places->nx, to;
    switch (source->params.pattern) {
    case TRAFFIC_TRANSPOSE:
        to = x * places->nx + y;
        break;
    case TRAFFIC_BIT_COMPLEMENT:
        to = places->nodes - 1 - node;
        break;
    case TRAFFIC_BIT_REVERSE:
        to = reverse_bits(node, places->nodes);
        break;
    case TRAFFIC_SHUFFLE:
        to = rotate_bits(node, places->nodes);
        break;
    case TRAFFIC_TORNADO:
        to = tornado(places, node);
        break;
    case TRAFFIC_NEIGHBOUR:
    case TRAFFIC_MIXHOT:
        to = y * places->nx + (x ^ 1);
        break;
    case TRAFFIC_ROWPORT:
        return places->nodes + y;
    default:
        return places->nodes; /* drawn */
    }
    return to == node ? PLACE_NONE : to;
}

static bool set_permutation(struct traffic_source *source, GError **error) {
    uint32_t nodes = source->places.nodes;
    const struct traffic_params *params = &source->params;
    if (!params->permutation_count) {
        uint64_t state = start_value(params->seed, nodes);
        for (uint32_t i = 0; i < nodes; i++)
            source->fixed[i] = i;
        for (uint32_t i = nodes - 1; i > 0; i--) {
            uint32_t k = (uint32_t)((draw(&state) >> INDEX_SHIFT) % (i + 1)), kept = source->fixed[i];
            source->fixed[i] = source->fixed[k];
            source->fixed[k] = kept;
        }
    } else if (params->permutation_count != nodes) {
        return refuse(error, "permutation: %u entries, expected one for each of the %u nodes",
                      params->permutation_count, nodes);
    } else {
        bool *used = g_new0(bool, nodes);
        for (uint32_t i = 0; i < nodes; i++) {
            uint32_t to = params->permutation[i];
            bool good = to < nodes && !used[to];
            if (!good) {
                g_free(used);
                return refuse(error, "permutation: entry %u is %u, expected every node 0..%u once", i, to, nodes - 1);
            }
            used[to] = true;
            source->fixed[i] = to;
        }
        g_free(used);
    }
    for (uint32_t i = 0; i < nodes; i++)
        if (source->fixed[i] == i)
            source->fixed[i] = PLACE_NONE;
    return true;
}

static bool set_hotspots(struct traffic_source *source, GError **error) {
    const struct traffic_params *params = &source->params;
    unsigned count = params->hotspot_count;
    double all = 0, sum = 0;
    if (!(params->hotspot_share >= 0 && params->hotspot_share <= 1))
        return refuse(error, "hotspot_share: %g is not a share, expected 0..1", params->hotspot_share);
    source->hot = g_new0(uint32_t, MAX(count, 1));
    source->hot_until = g_new0(uint64_t, MAX(count, 1));
    source->hot_share = as_draw(params->hotspot_share);
    source->hot[0] = source->places.nodes;
    for (unsigned i = 0; i < count; i++) {
        const struct traffic_hotspot *spot = &params->hotspots[i];
        if (!place_number(&source->places, spot->x, spot->y, &source->hot[i]))
            return refuse(error, "hotspots: nothing can be at (%u,%u), expected a place of the %ux%u mesh", spot->x,
                          spot->y, source->places.nx, source->places.ny);
        if (!(spot->weight > 0 && isfinite(spot->weight)))
            return refuse(error, "hotspots: the weight of (%u,%u) is %g, expected more than 0", spot->x, spot->y,
                          spot->weight);
        all += spot->weight;
    }
    for (unsigned i = 0; i < count; i++) {
        sum += params->hotspots[i].weight;
        source->hot_until[i] = as_draw(sum / all);
    }
    return true;
}

static bool set_destinations(struct traffic_source *source, GError **error) {
    for (uint32_t i = 0; i < source->places.nodes; i++)
        source->fixed[i] = fixed_destination(source, i);
    if (source->params.pattern == TRAFFIC_PERMUTATION && !set_permutation(source, error))
        return false;
    if (source->params.pattern == TRAFFIC_HOTSPOT && !set_hotspots(source, error))
        return false;
    for (uint32_t i = 0; i < source->places.nodes; i++)
        source->silent += source->fixed[i] == PLACE_NONE;
    if (source->silent == source->places.nodes)
        return refuse(error, "pattern %s sends every node of a %ux%u mesh to itself", names[source->params.pattern],
                      source->places.nx, source->places.ny);
    return true;
}

struct traffic_source *traffic_source_new(const struct machine *machine, const struct traffic_params *params,
                                          GError **error) {
    struct traffic_source *source = g_new0(struct traffic_source, 1);
    source->params = *params;
    places_init(&source->places, machine->nx, machine->ny);
    uint32_t nodes = source->places.nodes;
    source->state = g_new(uint64_t, nodes);
    source->fixed = g_new(uint32_t, nodes);
    source->on = g_new0(bool, nodes);
    if (!check_rate(params, error) || !check_window(params, error) || !check_shape(params, &source->places, error) ||
        !set_destinations(source, error)) {
        traffic_source_free(source);
        return NULL;
    }
    bool bursts = params->off_cycles > 0;
    double share = bursts ? params->on_cycles / (params->on_cycles + params->off_cycles) : 1;
    source->threshold = as_draw(params->rate / params->message_flits / share);
    source->leave_on = bursts ? as_draw(1 / params->on_cycles) : 0;
    source->leave_off = bursts ? as_draw(1 / params->off_cycles) : 0;
    source->end = params->rate > 0 ? params->warmup_cycles + params->measure_cycles : 0;
    for (uint32_t i = 0; i < nodes; i++) {
        source->state[i] = start_value(params->seed, i);
        source->on[i] = bursts && below(&source->state[i], as_draw(share));
    }
    return source;
}

void traffic_source_free(struct traffic_source *source) {
    g_free(source->state);
    g_free(source->fixed);
    g_free(source->on);
    g_free(source->hot);
    g_free(source->hot_until);
    g_free(source);
}

unsigned traffic_source_silent(const struct traffic_source *source) {
    return source->silent;
}

cycle_t traffic_source_next(const struct traffic_source *source) {
    return source->next < source->end ? source->next : CYCLE_NEVER;
}

/* ---- generation ---- */

/* Bursts draw once more, for whether the next cycle is in one. */
static bool generates_in_bursts(struct traffic_source *source, uint32_t node) {
    uint64_t *state = &source->state[node];
    bool on = source->on[node], message = on && below(state, source->threshold);
    source->on[node] = on != below(state, on ? source->leave_on : source->leave_off);
    return message;
}

/* Sets a byte for each of `count` nodes: does it generate in this cycle? One loop without branches for Bernoulli. */
static void draw_all(struct traffic_source *source, uint32_t first, uint32_t count, uint8_t *generates) {
    uint64_t *state = &source->state[first], threshold = source->threshold;
    if (source->leave_on) {
        for (uint32_t i = 0; i < count; i++)
            generates[i] = generates_in_bursts(source, first + i);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        generates[i] = (uint8_t)(((draw(&state[i]) >> DRAW_SHIFT) - threshold) >> 63);
}

void traffic_source_generate(struct traffic_source *source, cycle_t to,
                             void (*emit)(void *self, const struct traffic_message *message), void *self) {
    struct traffic_message message = {.flits = source->params.message_flits};
    uint8_t generates[DRAW_NODES];
    to = MIN(to, source->end);
    for (; source->next < to; source->next++) {
        message.cycle = source->next;
        for (uint32_t first = 0; first < source->places.nodes; first += DRAW_NODES) {
            uint32_t count = MIN(DRAW_NODES, source->places.nodes - first);
            draw_all(source, first, count, generates);
            for (uint32_t i = 0; i < count; i++) {
                message.source = first + i;
                if (!generates[i] || source->fixed[message.source] == PLACE_NONE)
                    continue;
                message.number = source->number;
                message.destination = destination(source, message.source);
                emit(self, &message);
                source->number += message.flits;
            }
        }
    }
}

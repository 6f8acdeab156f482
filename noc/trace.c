/* Trace text; see trace.h and docs/traffic.md. */
#include "noc/trace.h"

#include <string.h>

#include "model/error.h"

#define TRACE_HEADER "flitsim.trace/1"

enum {
    COORDINATE_MAX = 4095,
    PACKET_FLITS_MAX = 1 << 20,
};

/* What is left of a line, and where the line is. */
struct scanner {
    const char *name;
    unsigned line;
    const char *start, *at;
    GError **error;
};

static bool fail(const struct scanner *scan, const char *expected) {
    g_set_error(scan->error, FS_ERROR, FS_ERROR_INPUT, "%s:%u:%u: found \"%.20s\", expected %s", scan->name, scan->line,
                (unsigned)(scan->at - scan->start) + 1, scan->at, expected);
    return false;
}

static void skip_blanks(struct scanner *scan) {
    while (*scan->at == ' ' || *scan->at == '\t')
        scan->at++;
}

/* A decimal number of at most max, ended by one of `ends` or the end of the line. */
static bool number(struct scanner *scan, uint64_t max, const char *ends, uint64_t *value, const char *expected) {
    const char *at = scan->at;
    uint64_t result = 0;
    for (; g_ascii_isdigit(*at); at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (result > (max - digit) / 10)
            return fail(scan, expected);
        result = 10 * result + digit;
    }
    if (at == scan->at || (*at && !strchr(ends, *at)))
        return fail(scan, expected);
    scan->at = at;
    *value = result;
    return true;
}

static bool place(struct scanner *scan, unsigned *x, unsigned *y) {
    static const char expected[] = "a place x,y with coordinates 0..4095";
    uint64_t left, right;
    skip_blanks(scan);
    if (!number(scan, COORDINATE_MAX, ",", &left, expected))
        return false;
    if (*scan->at++ != ',') {
        scan->at--;
        return fail(scan, expected);
    }
    if (!number(scan, COORDINATE_MAX, " \t", &right, expected))
        return false;
    *x = (unsigned)left;
    *y = (unsigned)right;
    return true;
}

static bool waits(struct scanner *scan, struct trace *trace, struct trace_packet *packet, GHashTable *known) {
    packet->first_wait = trace->waits->len;
    for (skip_blanks(scan); *scan->at; skip_blanks(scan)) {
        uint64_t id, delay;
        gpointer index;
        const char *start = scan->at;
        if (!number(scan, UINT64_MAX, "+", &id, "a packet to wait for as id+cycles") || *scan->at != '+')
            return *scan->error ? false : fail(scan, "+ and the cycles to wait after that packet");
        if (!g_hash_table_lookup_extended(known, &id, NULL, &index)) {
            scan->at = start;
            return fail(scan, "the id of an earlier packet");
        }
        scan->at++;
        if (!number(scan, UINT32_MAX, " \t", &delay, "cycles to wait, at least 1"))
            return false;
        if (delay == 0)
            return fail(scan, "cycles to wait, at least 1");
        struct trace_wait wait = {GPOINTER_TO_UINT(index), (uint32_t)delay};
        g_array_append_val(trace->waits, wait);
        packet->wait_count++;
    }
    return true;
}

static bool packet_line(struct scanner *scan, struct trace *trace, GHashTable *known) {
    struct trace_packet packet = {0};
    uint64_t flits;
    if (!number(scan, UINT64_MAX, " \t", &packet.id, "a packet id"))
        return false;
    if (g_hash_table_contains(known, &packet.id)) {
        scan->at = scan->start;
        return fail(scan, "an id that no earlier packet has");
    }
    skip_blanks(scan);
    if (!number(scan, (UINT64_C(1) << 53) - 1, " \t", &packet.cycle, "the cycle of generation") ||
        !place(scan, &packet.src_x, &packet.src_y) || !place(scan, &packet.dst_x, &packet.dst_y))
        return false;
    skip_blanks(scan);
    if (!number(scan, PACKET_FLITS_MAX, " \t", &flits, "the number of flits, 1..1048576"))
        return false;
    if (flits == 0)
        return fail(scan, "the number of flits, 1..1048576");
    packet.flits = (uint32_t)flits;
    if (!waits(scan, trace, &packet, known))
        return false;
    g_hash_table_insert(known, g_memdup2(&packet.id, sizeof packet.id), GUINT_TO_POINTER(trace->packets->len));
    g_array_append_val(trace->packets, packet);
    return true;
}

static bool lines(struct trace *trace, char **all, const char *name, GHashTable *known, GError **error) {
    bool header = false;
    for (unsigned i = 0; all[i]; i++) {
        g_strchomp(all[i]);
        struct scanner scan = {.name = name, .line = i + 1, .start = all[i], .at = all[i], .error = error};
        skip_blanks(&scan);
        if (!*scan.at || *scan.at == '#')
            continue;
        if (!header) {
            if (strcmp(scan.at, TRACE_HEADER) != 0)
                return fail(&scan, "the line \"" TRACE_HEADER "\"");
            header = true;
        } else if (!packet_line(&scan, trace, known)) {
            return false;
        }
    }
    if (!header)
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s: the file is empty, expected the line \"" TRACE_HEADER "\"",
                    name);
    return header;
}

bool trace_parse(struct trace *trace, const char *text, const char *name, GError **error) {
    GError *problem = NULL;
    trace->packets = g_array_new(FALSE, FALSE, sizeof(struct trace_packet));
    trace->waits = g_array_new(FALSE, FALSE, sizeof(struct trace_wait));
    GHashTable *known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    char **all = g_strsplit(text, "\n", -1);
    bool good = lines(trace, all, name, known, &problem);
    g_strfreev(all);
    g_hash_table_unref(known);
    if (!good) {
        trace_clear(trace);
        g_propagate_error(error, problem);
    }
    return good;
}

void trace_clear(struct trace *trace) {
    if (trace->packets)
        g_array_unref(trace->packets);
    if (trace->waits)
        g_array_unref(trace->waits);
    *trace = (struct trace){0};
}

void trace_begin(GString *text) {
    g_string_append(text, TRACE_HEADER "\n# id cycle from to flits [id+cycles ...]\n");
}

void trace_write(GString *text, uint64_t id, cycle_t cycle, unsigned src_x, unsigned src_y, unsigned dst_x,
                 unsigned dst_y, uint32_t flits) {
    g_string_append_printf(text, "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %u,%u %u,%u %u\n", id, cycle, src_x,
                           src_y, dst_x, dst_y, flits);
}

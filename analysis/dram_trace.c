/* Trace of memory bursts; see dram_trace.h. */
#include "analysis/dram_trace.h"

#include "model/error.h"

static void note(void *self, bool writes, uint64_t address, unsigned words, cycle_t now) {
    struct dram_trace *trace = self;
    g_string_append_printf(trace->text, "%" G_GUINT64_FORMAT " %c 0x%010" G_GINT64_MODIFIER "x %u\n", now,
                           writes ? 'W' : 'R', address, words);
}

void dram_trace_init(struct dram_trace *trace) {
    *trace = (struct dram_trace){.watch = {.self = trace, .burst = note},
                                 .text = g_string_new("# cycle R|W address words\n")};
}

void dram_trace_clear(struct dram_trace *trace) {
    g_string_free(trace->text, TRUE);
    *trace = (struct dram_trace){0};
}

bool dram_trace_write(const struct dram_trace *trace, const char *path, GError **error) {
    g_autoptr(GError) cause = NULL;
    if (g_file_set_contents(path, trace->text->str, (gssize)trace->text->len, &cause))
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: (file): can't be written: %s, expected a writable file", path,
                fs_error_reason(cause));
    return false;
}

/* The result document for people: what was asked, how long it took, where the cycles went, how good the answer is. */
#include <string.h>

#include "analysis/result.h"

enum {
    WAITS_SHOWN = 12, /* of a deadlock; result.json has all */
};

static double number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

static gint64 count(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

/* 12345678 as "12,345,678". */
static char *grouped(gint64 value) {
    g_autofree char *digits = g_strdup_printf("%" G_GINT64_FORMAT, value);
    GString *text = g_string_new(NULL);
    size_t length = strlen(digits);
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0 && digits[i - 1] != '-')
            g_string_append_c(text, ',');
        g_string_append_c(text, digits[i]);
    }
    return g_string_free(text, FALSE);
}

static void add_head(const json_t *result, GString *text) {
    const json_t *plan = json_object_get(result, "plan");
    g_autofree char *cycles = grouped(count(result, "cycles"));
    g_string_append_printf(text, "%s on %s",
                           json_string_value(json_object_get(json_object_get(result, "workload"), "workload")),
                           json_string_value(json_object_get(result, "machine")));
    if (json_object_get(plan, "gm"))
        g_string_append_printf(text, ": %ld x %ld x %ld, tile %ldx%ld sub-tiles, %ld K blocks a chunk, %s drain%s",
                               (long)count(plan, "m"), (long)count(plan, "k"), (long)count(plan, "n"),
                               (long)count(plan, "gm"), (long)count(plan, "gn"), (long)count(plan, "nk"),
                               count(plan, "fused") ? "fused" : "issuing",
                               count(plan, "resident") ? ", B resident" : "");
    const json_t *split = json_object_get(result, "split");
    if (count(split, "factor") > 1)
        g_string_append_printf(text, ", K split %ld ways (%s)", (long)count(split, "factor"),
                               json_string_value(json_object_get(split, "form")));
    g_string_append_printf(text, "\n\n  %-18s %s", "cycles", cycles);
    if (number(result, "clock_mhz") > 0)
        g_string_append_printf(text, "  (%.1f us at %g MHz)",
                               (double)count(result, "cycles") / number(result, "clock_mhz"),
                               number(result, "clock_mhz"));
    g_string_append_c(text, '\n');
    const json_t *conversion = json_object_get(result, "conversion");
    if (count(conversion, "cycles"))
        g_string_append_printf(text, "  %-18s %ld cycles of these by the memory mover, before the product\n",
                               "conversion", (long)count(conversion, "cycles"));
    if (json_is_number(json_object_get(result, "gflops")))
        g_string_append_printf(text, "  %-18s %.1f GFLOP/s, %.1f %% of peak\n", "throughput", number(result, "gflops"),
                               100 * number(result, "peak_fraction"));
    g_string_append_printf(text, "  %-18s %.3f s, %.2f million cycles a second\n", "simulated in",
                           number(result, "wall_s"), number(result, "cycles_per_wall_s") / 1e6);
}

/* One line a component: a share per cause, largest first. */
static void add_causes(const json_t *components, const char *title, gint64 cycles, GString *text) {
    size_t index;
    const json_t *component;
    if (!json_array_size(components) || cycles <= 0)
        return;
    g_string_append_printf(text, "\n%s\n", title);
    json_array_foreach(components, index, component) {
        const json_t *causes = json_object_get(component, "cycles");
        if (json_object_get(component, "mesh"))
            g_string_append_printf(text, "  mesh %ld", (long)count(component, "mesh"));
        g_string_append_printf(text, "  %-12s (%ld,%ld) ", json_string_value(json_object_get(component, "name")),
                               (long)count(component, "x"), (long)count(component, "y"));
        gint64 shown = INT64_MAX;
        const char *last = "";
        for (;;) { /* next largest; ties in name order */
            const char *best = NULL, *name;
            json_t *value;
            gint64 most = 0;
            json_object_foreach((json_t *)causes, name, value) {
                gint64 n = json_integer_value(value);
                bool left = n < shown || (n == shown && strcmp(name, last) > 0);
                if (n > 0 && left && (!best || n > most || (n == most && strcmp(name, best) < 0))) {
                    best = name;
                    most = n;
                }
            }
            if (!best)
                break;
            g_string_append_printf(text, " %s %.1f%%", best, 100.0 * (double)most / (double)cycles);
            shown = most;
            last = best;
        }
        g_string_append_c(text, '\n');
    }
}

static void add_traffic(const json_t *result, GString *text) {
    const json_t *counts = json_object_get(result, "counts");
    static const char *const keys[] = {"host_writes", "instructions",    "mem_rd_req",
                                       "mem_rd_resp", "mem_wr_req",      "mem_wr_data",
                                       "signals",     "dram_read_bytes", "dram_write_bytes"};
    if (!counts)
        return;
    g_string_append(text, "\ncounts\n ");
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_autofree char *value = grouped(count(counts, keys[i]));
        g_string_append_printf(text, " %s %s%s", keys[i], value, i == 4 ? "\n " : "");
    }
    g_string_append_c(text, '\n');
}

static void add_load(const json_t *result, GString *text) {
    const json_t *traffic = json_object_get(result, "traffic");
    static const char *const titles[][2] = {{"latency", "latency"},
                                            {"network_latency", "  in the network"},
                                            {"queueing_latency", "  queued at the source"}};
    if (!traffic)
        return;
    g_string_append_printf(text,
                           "\nload in flits per node and cycle\n  offered %.4f, injected %.4f, accepted %.4f%s\n\n",
                           number(traffic, "offered"), number(traffic, "injected"), number(traffic, "accepted"),
                           json_is_true(json_object_get(traffic, "saturated"))
                               ? "\n  SATURATED: the sources' queues grow, so latency grows with the length of the run"
                               : "");
    for (size_t i = 0; i < G_N_ELEMENTS(titles); i++) {
        const json_t *latency = json_object_get(traffic, titles[i][0]);
        g_string_append_printf(text, "  %-24s mean %.2f, p50 %ld, p99 %ld, max %ld cycles (%ld messages)\n",
                               titles[i][1], number(latency, "mean"), (long)count(latency, "p50"),
                               (long)count(latency, "p99"), (long)count(latency, "max"), (long)count(latency, "count"));
    }
    g_string_append_printf(text, "\nflits\n  generated %ld = delivered %ld + in flight %ld + queued %ld\n",
                           (long)count(traffic, "generated_flits"), (long)count(traffic, "delivered_flits"),
                           (long)count(traffic, "in_flight_flits"), (long)count(traffic, "queued_flits"));
}

/* What several meshes gain over one, and what crossed between them. */
static void add_meshes(const json_t *result, GString *text) {
    const json_t *meshes = json_object_get(result, "meshes"), *scaling = json_object_get(result, "scaling");
    if (!json_is_object(meshes))
        return;
    g_string_append_printf(text, "\n%ld meshes, %ld clusters\n  %-18s %ld packets, %ld bytes\n",
                           (long)count(meshes, "count"), (long)count(meshes, "clusters"), "links",
                           (long)count(meshes, "link_packets"), (long)count(meshes, "link_bytes"));
    if (json_is_object(scaling))
        g_string_append_printf(text, "  %-18s %.3f times faster than one mesh (%ld cycles), sweeps %.3f times\n",
                               "scaling", number(scaling, "time"), (long)count(scaling, "one_mesh_cycles"),
                               number(scaling, "compute"));
}

static void add_sample(const json_t *result, GString *text) {
    const json_t *sample = json_object_get(result, "sample");
    bool found = json_is_true(json_object_get(sample, "found"));
    if (!json_is_object(sample))
        return;
    g_string_append_printf(text, "\nsample\n  %-18s %s: %s\n  %-18s %s\n  %-18s %s\n", "must show",
                           json_string_value(json_object_get(sample, "expected")), found ? "found" : "NOT FOUND",
                           "rule", json_string_value(json_object_get(sample, "rule")), "machine",
                           json_string_value(json_object_get(sample, "machine")));
}

static void add_numerics(const json_t *result, GString *text) {
    const json_t *numerics = json_object_get(result, "numerics");
    static const struct {
        const char *key, *title;
    } rows[] = {{"vs_quantised", "against the quantised operands"}, {"vs_fp64", "against the FP16 operands"}};
    if (!json_is_object(numerics))
        return;
    gint64 mismatches = count(json_object_get(numerics, "vs_model"), "mismatches");
    g_string_append_printf(text, "\nanswer\n  %-34s %s", "against the machine's arithmetic",
                           mismatches ? "" : "bit for bit equal\n");
    if (mismatches)
        g_string_append_printf(text, "%ld elements differ\n", (long)mismatches);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const json_t *grade = json_object_get(numerics, rows[i].key);
        if (!json_is_object(grade))
            continue;
        g_string_append_printf(text, "  %-34s relative error p50 %.3g, p99 %.3g; %ld over 10 %%; %ld saturated\n",
                               rows[i].title, number(grade, "rel_p50"), number(grade, "rel_p99"),
                               (long)count(grade, "over_10pct"), (long)count(grade, "saturated"));
    }
}

static void add_trouble(const json_t *result, GString *text) {
    const json_t *hazards = json_object_get(result, "hazards"), *deadlock = json_object_get(result, "deadlock"), *item;
    size_t index;
    if (json_array_size(hazards))
        g_string_append(text, "\nhazards\n");
    json_array_foreach(hazards, index, item) g_string_append_printf(
        text, "  %s at cycle %ld in %s, %ld times: %s\n", json_string_value(json_object_get(item, "id")),
        (long)count(item, "cycle"), json_string_value(json_object_get(item, "where")), (long)count(item, "count"),
        json_string_value(json_object_get(item, "what")));
    if (!json_is_object(deadlock))
        return;
    const char *id = json_string_value(json_object_get(deadlock, "id"));
    g_string_append_printf(text, "\ndeadlock in cycle %ld: %s%s%s\n", (long)count(deadlock, "cycle"),
                           json_string_value(json_object_get(deadlock, "reason")), id ? ", diagnosis " : "",
                           id ? id : "");
    json_array_foreach(json_object_get(deadlock, "waits"), index, item) {
        const char *held_by = json_string_value(json_object_get(item, "held_by"));
        if (index == WAITS_SHOWN) {
            g_string_append_printf(text, "  and %zu more\n",
                                   json_array_size(json_object_get(deadlock, "waits")) - index);
            break;
        }
        g_string_append_printf(text, "%s %s waits for %s, held by %s, since cycle %ld\n",
                               json_is_true(json_object_get(item, "in_circle")) ? "->" : "  ",
                               json_string_value(json_object_get(item, "who")),
                               json_string_value(json_object_get(item, "for")), held_by ? held_by : "nobody",
                               (long)count(item, "since"));
    }
}

char *result_summary(const json_t *result) {
    GString *text = g_string_new(NULL);
    gint64 cycles = count(result, "cycles");
    add_head(result, text);
    add_causes(json_object_get(result, "units"), "where the cycles of the units went", cycles, text);
    add_causes(json_object_get(result, "ports"), "and of the memory ports", cycles, text);
    add_traffic(result, text);
    add_load(result, text);
    add_meshes(result, text);
    add_sample(result, text);
    add_numerics(result, text);
    add_trouble(result, text);
    g_string_append_printf(text, "\ndigest %s\n", json_string_value(json_object_get(result, "digest")));
    return g_string_free(text, FALSE);
}

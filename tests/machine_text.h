/* Small machines for tests: text in, machine or message out. */
#pragma once

#include <string.h>

#include "model/config.h"

/* One router with a cluster, one memory port west of it. `MACHINE_TEXT("\"noc\": {}")` adds keys before the map. */
#define MACHINE_MAP        "\"map\": [\"xxx nul xxx\", \"mag mat nul\", \"xxx nul xxx\"]"
#define MACHINE_TEXT(keys) "{" keys ", " MACHINE_MAP "}"

/* The machine of `text` as file "m.json", with `set` (may be NULL) over it; NULL, or the message to be freed. */
static inline char *machine_from_text(struct machine *machine, const char *text, const char *set) {
    struct json_source source;
    GError *error = NULL;
    if (json_source_parse(&source, "m.json", text, strlen(text), &error)) {
        if (!set || json_source_set(&source, 1, "machine", set, &error))
            config_read_machine(machine, &source, &error);
        json_source_clear(&source);
    }
    char *message = error ? g_strdup(error->message) : NULL;
    g_clear_error(&error);
    return message;
}

/* The text must give a machine. */
static inline void assert_machine(struct machine *machine, const char *text, const char *set) {
    g_autofree char *message = machine_from_text(machine, text, set);
    g_assert_cmpstr(message, ==, NULL);
}

/* The text must be refused with exactly this message. */
static inline void assert_refused(const char *text, const char *set, const char *expected) {
    struct machine machine;
    g_autofree char *message = machine_from_text(&machine, text, set);
    g_assert_cmpstr(message, ==, expected);
}

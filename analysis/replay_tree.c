/* See replay_tree.h. */
#include "analysis/replay_tree.h"

#include <inttypes.h>

static char *dump(const json_t *value) {
    return value ? json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
}

static void compare_objects(struct replay_result *out, const char *what, const json_t *reference, const json_t *ours) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)reference, key, value) {
        g_autofree char *path = g_strconcat(what, *what ? "." : "", key, NULL);
        replay_compare_tree(out, path, value, json_object_get(ours, key));
    }
    json_object_foreach((json_t *)ours, key, value) {
        if (json_object_get(reference, key))
            continue;
        g_autofree char *path = g_strconcat(what, *what ? "." : "", key, NULL);
        replay_compare_tree(out, path, NULL, value);
    }
}

void replay_compare_tree(struct replay_result *out, const char *what, const json_t *reference, const json_t *ours) {
    if (json_is_object(reference) && json_is_object(ours)) {
        compare_objects(out, what, reference, ours);
    } else if (json_is_integer(reference) && json_is_integer(ours)) {
        replay_add_number(out, what, json_integer_value(reference), json_integer_value(ours));
    } else {
        char *a = dump(reference), *b = dump(ours);
        replay_add_text(out, what, a ? a : "nothing", b ? b : "nothing");
        free(a);
        free(b);
    }
}

json_t *replay_hash_text(uint64_t hash) {
    g_autofree char *digits = g_strdup_printf("%016" PRIx64, hash);
    return json_string(digits);
}

json_t *replay_hex(uint64_t value) {
    g_autofree char *digits = g_strdup_printf("%" PRIx64, value);
    return json_string(digits);
}

uint64_t replay_unhex(const json_t *text) {
    const char *digits = json_string_value(text);
    return digits ? g_ascii_strtoull(digits, NULL, 16) : 0;
}

uint64_t replay_mix(uint64_t x) {
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

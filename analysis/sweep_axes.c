/* See sweep_axes.h and docs/sweeps.md. */
#include "analysis/sweep_axes.h"

#include <math.h>
#include <string.h>

enum {
    MAX_CHOICES = 1000000, /* of one axis */
    MAX_SAMPLES = 10000000,
};

void sweep_assignment_free(void *data) {
    struct sweep_assignment *assignment = data;
    g_free(assignment->key);
    g_free(assignment->place);
    json_decref(assignment->value);
    g_free(assignment);
}

static void choice_free(void *data) {
    struct sweep_choice *choice = data;
    json_decref(choice->label);
    g_ptr_array_unref(choice->assignments);
    g_free(choice);
}

void sweep_axis_free(void *data) {
    struct sweep_axis *axis = data;
    g_free(axis->name);
    g_free(axis->order);
    g_ptr_array_unref(axis->choices);
    g_free(axis);
}

static struct sweep_assignment *assignment_new(const char *key, json_t *value, const char *place) {
    struct sweep_assignment *assignment = g_new0(struct sweep_assignment, 1);
    *assignment =
        (struct sweep_assignment){.key = g_strdup(g_str_has_prefix(key, "machine.") ? key + strlen("machine.") : key),
                                  .value = json_incref(value),
                                  .place = g_strdup(place)};
    return assignment;
}

static struct sweep_choice *choice_new(struct sweep_axis *axis, json_t *label) {
    struct sweep_choice *choice = g_new0(struct sweep_choice, 1);
    choice->label = json_incref(label);
    choice->assignments = g_ptr_array_new_with_free_func(sweep_assignment_free);
    g_ptr_array_add(axis->choices, choice);
    return choice;
}

/* ---- the forms of an axis ---- */

struct axis_reader {
    const struct json_source *source;
    struct sweep_axis *axis;
    const char *path; /* of the axis in the file */
    GError **error;
};

static bool complain(const struct axis_reader *reader, const char *path, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool complain(const struct axis_reader *reader, const char *path, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return json_source_error(reader->source, reader->error, JSON_PLACE_VALUE, path, 0, "%s", text);
}

/* What a choice of a list is called: the value itself, or its place when it is a whole map. */
static json_t *list_label(json_t *value, size_t index) {
    const char *name = json_is_object(value) ? json_string_value(json_object_get(value, "name")) : NULL;
    if (name)
        return json_string(name);
    return json_is_object(value) || json_is_array(value) ? json_integer((json_int_t)index) : json_incref(value);
}

static bool read_list(const struct axis_reader *reader, json_t *list) {
    size_t index;
    json_t *value;
    if (json_array_size(list) == 0 || json_array_size(list) > MAX_CHOICES)
        return complain(reader, reader->path, "has %zu values, expected 1..%d", json_array_size(list), MAX_CHOICES);
    json_array_foreach(list, index, value) {
        g_autofree char *place = json_path_index(reader->path, index);
        json_t *label = list_label(value, index);
        struct sweep_choice *choice = choice_new(reader->axis, label);
        json_decref(label);
        g_ptr_array_add(choice->assignments, assignment_new(reader->axis->name, value, place));
    }
    return true;
}

static json_t *axis_number(const struct sweep_axis *axis, double value) {
    return axis->whole ? json_integer((json_int_t)llround(value)) : json_real(value);
}

/* Whole values that round to the one before are left out. */
static void add_number(const struct axis_reader *reader, double value) {
    json_t *number = axis_number(reader->axis, value);
    GPtrArray *choices = reader->axis->choices;
    const struct sweep_choice *last = choices->len ? g_ptr_array_index(choices, choices->len - 1) : NULL;
    if (!last || !json_equal(last->label, number)) {
        struct sweep_choice *choice = choice_new(reader->axis, number);
        g_ptr_array_add(choice->assignments, assignment_new(reader->axis->name, number, reader->path));
    }
    json_decref(number);
}

/* A number of the object at the axis; `needed` says whether it may be missing. */
static bool read_number(const struct axis_reader *reader, const json_t *object, const char *form, const char *key,
                        bool needed, double *number) {
    const json_t *value = json_object_get(object, key);
    g_autofree char *below = json_path_key(reader->path, form), *path = json_path_key(below, key);
    if (!value && !needed)
        return true;
    *number = json_number_value(value);
    if (!json_is_number(value) || !isfinite(*number))
        return complain(reader, value ? path : below, "%s is %s, expected a number", key, json_kind(value));
    reader->axis->whole = reader->axis->whole && json_is_integer(value);
    return true;
}

static bool check_keys(const struct axis_reader *reader, const char *form, const json_t *object,
                       const char *const *known, size_t count) {
    const char *key;
    const json_t *value;
    g_autofree char *below = json_path_key(reader->path, form);
    if (!json_is_object(object))
        return complain(reader, below, "is %s, expected an object", json_kind(object));
    json_object_foreach((json_t *)object, key, value) {
        bool found = false;
        for (size_t i = 0; i < count; i++)
            found = found || g_str_equal(known[i], key);
        if (found)
            continue;
        const char *near = nearest_word(key, known, count);
        g_autofree char *path = json_path_key(below, key), *all = g_strjoinv(", ", (char **)known);
        return json_source_error(reader->source, reader->error, JSON_PLACE_KEY, path, 0, "unknown key, expected %s%s",
                                 near ? "perhaps " : "one of ", near ? near : all);
    }
    return true;
}

static bool read_range(const struct axis_reader *reader, json_t *object) {
    static const char *const known[] = {"from", "to", "step", NULL};
    struct sweep_axis *axis = reader->axis;
    double step = 0;
    axis->whole = true;
    if (!check_keys(reader, "range", object, known, 3) ||
        !read_number(reader, object, "range", "from", true, &axis->from) ||
        !read_number(reader, object, "range", "to", true, &axis->to) ||
        !read_number(reader, object, "range", "step", false, &step))
        return false;
    g_autofree char *path = json_path_key(reader->path, "range");
    axis->continuous = !json_object_get(object, "step");
    if (axis->continuous)
        return axis->from < axis->to || complain(reader, path, "from %g is not below to %g", axis->from, axis->to);
    double steps = floor((axis->to - axis->from) / step + 1e-9);
    if (step == 0 || steps < 0 || steps >= MAX_CHOICES)
        return complain(reader, path, "step %g does not lead from %g to %g in less than %d values", step, axis->from,
                        axis->to, MAX_CHOICES);
    for (unsigned i = 0; i <= (unsigned)steps; i++)
        add_number(reader, axis->from + i * step);
    return true;
}

static bool log_by_factor(const struct axis_reader *reader, const char *path, double factor) {
    const struct sweep_axis *axis = reader->axis;
    if (factor <= 1 || log(axis->to / axis->from) / log(factor) >= MAX_CHOICES)
        return complain(reader, path,
                        "factor %g does not lead from %g to %g in less than %d values, expected more than 1", factor,
                        axis->from, axis->to, MAX_CHOICES);
    for (double value = axis->from; value <= axis->to * (1 + 1e-9); value *= factor)
        add_number(reader, value);
    return true;
}

static bool log_by_points(const struct axis_reader *reader, const char *path, double points) {
    const struct sweep_axis *axis = reader->axis;
    if (points < 2 || points > MAX_CHOICES || points != floor(points))
        return complain(reader, path, "points is %g, expected a whole number 2..%d", points, MAX_CHOICES);
    for (unsigned i = 0; i < points; i++)
        add_number(reader, axis->from * pow(axis->to / axis->from, i / (points - 1)));
    return true;
}

static bool read_log(const struct axis_reader *reader, json_t *object) {
    static const char *const known[] = {"from", "to", "factor", "points", NULL};
    struct sweep_axis *axis = reader->axis;
    double factor = 0, points = 0;
    g_autofree char *path = json_path_key(reader->path, "log");
    axis->whole = true;
    axis->logarithmic = true;
    if (!check_keys(reader, "log", object, known, 4) ||
        !read_number(reader, object, "log", "from", true, &axis->from) ||
        !read_number(reader, object, "log", "to", true, &axis->to))
        return false;
    bool whole = axis->whole; /* the factor between whole numbers need not be one */
    if (!read_number(reader, object, "log", "factor", false, &factor) ||
        !read_number(reader, object, "log", "points", false, &points))
        return false;
    axis->whole = whole;
    if (axis->from <= 0 || axis->to <= axis->from)
        return complain(reader, path, "from %g to %g, expected 0 < from < to", axis->from, axis->to);
    bool by_factor = json_object_get(object, "factor"), by_points = json_object_get(object, "points");
    if (by_factor && by_points)
        return complain(reader, path, "has both factor and points, expected one of them");
    axis->continuous = !by_factor && !by_points;
    if (axis->continuous)
        return true;
    return by_factor ? log_by_factor(reader, path, factor) : log_by_points(reader, path, points);
}

/* Each a name and an object of several keys, or the name of a machine. */
static bool read_alternatives(const struct axis_reader *reader, json_t *object) {
    const char *name, *key;
    json_t *set, *value;
    g_autofree char *below = json_path_key(reader->path, "alternatives");
    if (!json_is_object(object) || json_object_size(object) == 0)
        return complain(reader, below, "is %s, expected an object of at least one name", json_kind(object));
    json_object_foreach(object, name, set) {
        g_autofree char *place = json_path_key(below, name);
        if (!json_is_object(set))
            return complain(reader, place, "is %s, expected an object of keys and values", json_kind(set));
        json_t *label = json_string(name);
        struct sweep_choice *choice = choice_new(reader->axis, label);
        json_decref(label);
        json_object_foreach(set, key, value) {
            g_autofree char *path = json_path_key(place, key);
            g_ptr_array_add(choice->assignments, assignment_new(key, value, path));
        }
    }
    return true;
}

static const struct axis_form {
    const char *name;
    bool (*read)(const struct axis_reader *reader, json_t *object);
} forms[] = {
    {"range", read_range},
    {"log", read_log},
    {"alternatives", read_alternatives},
};

static bool read_axis(const struct axis_reader *reader, json_t *value) {
    static const char expected[] = "expected a list, or an object with one of range, log, alternatives";
    if (json_is_array(value))
        return read_list(reader, value);
    if (!json_is_object(value) || json_object_size(value) != 1)
        return complain(reader, reader->path, "is %s%s, %s", json_kind(value),
                        json_is_object(value) ? " of several keys or none" : "", expected);
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++)
        if (json_object_get(value, forms[i].name))
            return forms[i].read(reader, json_object_get(value, forms[i].name));
    return complain(reader, reader->path, "has another key, %s", expected);
}

/* ---- combining ---- */

static uint64_t mix(uint64_t x) { /* splitmix64 */
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static uint64_t draw(const struct sweep *sweep, unsigned axis, uint64_t index) {
    return mix(mix(mix(sweep->sample_seed) + axis) + index);
}

/* A permutation of the strips, by Fisher and Yates. */
static void shuffle_axis(const struct sweep *sweep, unsigned number) {
    struct sweep_axis *axis = g_ptr_array_index(sweep->axes, number);
    axis->order = g_new(uint32_t, sweep->count);
    for (uint32_t i = 0; i < sweep->count; i++)
        axis->order[i] = i;
    for (uint64_t i = sweep->count; i > 1; i--) {
        uint64_t other = (uint64_t)(((unsigned __int128)draw(sweep, number, i) * i) >> 64);
        uint32_t spare = axis->order[i - 1];
        axis->order[i - 1] = axis->order[other];
        axis->order[other] = spare;
    }
}

static bool combine_error(const struct sweep *sweep, const char *path, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
static bool combine_error(const struct sweep *sweep, const char *path, GError **error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return json_source_error(&sweep->source, error, JSON_PLACE_VALUE, path, 0, "%s", text);
}

static bool count_grid(struct sweep *sweep, GError **error) {
    sweep->count = 1;
    for (guint i = 0; i < sweep->axes->len; i++) {
        const struct sweep_axis *axis = g_ptr_array_index(sweep->axes, i);
        sweep->count *= axis->choices->len;
        if (sweep->count > SWEEP_MAX_POINTS)
            return combine_error(sweep, "axes", error, "make more than %d combinations, expected fewer",
                                 SWEEP_MAX_POINTS);
    }
    return true;
}

static bool count_zip(struct sweep *sweep, GError **error) {
    const struct sweep_axis *first = sweep->axes->len ? g_ptr_array_index(sweep->axes, 0) : NULL;
    sweep->count = first ? first->choices->len : 1;
    for (guint i = 1; i < sweep->axes->len; i++) {
        const struct sweep_axis *axis = g_ptr_array_index(sweep->axes, i);
        g_autofree char *path = json_path_key("axes", axis->name);
        if (axis->choices->len != sweep->count)
            return combine_error(sweep, path, error, "has %u values where %s has %u, expected as many (combine is zip)",
                                 axis->choices->len, first->name, first->choices->len);
    }
    return true;
}

static bool read_sample(struct sweep *sweep, const json_t *combine, GError **error) {
    static const char path[] = "combine.latin_hypercube";
    const json_t *sample = json_object_get(combine, "latin_hypercube");
    const json_t *samples = json_object_get(sample, "samples"), *seed = json_object_get(sample, "seed");
    if (json_object_size(combine) != 1 || !json_is_object(sample))
        return combine_error(sweep, "combine", error,
                             "is an object without latin_hypercube alone, expected "
                             "{\"latin_hypercube\": {\"samples\": N, \"seed\": N}}");
    if (json_object_size(sample) != 1 + (seed ? 1u : 0u) || !json_is_integer(samples) ||
        json_integer_value(samples) < 1 || json_integer_value(samples) > MAX_SAMPLES)
        return combine_error(sweep, path, error, "expected samples, a whole number 1..%d, and perhaps seed",
                             MAX_SAMPLES);
    if (seed && (!json_is_integer(seed) || json_integer_value(seed) < 0))
        return combine_error(sweep, "combine.latin_hypercube.seed", error, "is no whole number from 0");
    sweep->combination = SWEEP_SAMPLE;
    sweep->count = (uint64_t)json_integer_value(samples);
    sweep->sample_seed = seed ? (uint64_t)json_integer_value(seed) : 1;
    for (unsigned i = 0; i < sweep->axes->len; i++)
        shuffle_axis(sweep, i);
    return true;
}

static bool refuse_continuous(const struct sweep *sweep, GError **error) {
    for (guint i = 0; i < sweep->axes->len; i++) {
        const struct sweep_axis *axis = g_ptr_array_index(sweep->axes, i);
        g_autofree char *path = json_path_key("axes", axis->name);
        if (axis->continuous)
            return combine_error(sweep, path, error, "has no %s, expected one unless combine is latin_hypercube",
                                 axis->logarithmic ? "factor or points" : "step");
    }
    return true;
}

static bool read_combine(struct sweep *sweep, GError **error) {
    const json_t *combine = json_object_get(sweep->source.root, "combine");
    const char *name = combine ? json_string_value(combine) : "grid";
    if (json_is_object(combine))
        return read_sample(sweep, combine, error);
    bool zip = name && g_str_equal(name, "zip");
    if (!zip && !(name && g_str_equal(name, "grid")))
        return combine_error(sweep, "combine", error,
                             "is neither \"grid\" nor \"zip\" nor {\"latin_hypercube\": {\"samples\": N}}");
    sweep->combination = zip ? SWEEP_ZIP : SWEEP_GRID;
    return refuse_continuous(sweep, error) && (zip ? count_zip : count_grid)(sweep, error);
}

bool sweep_read_axes(struct sweep *sweep, GError **error) {
    json_t *axes = json_object_get(sweep->source.root, "axes"), *value;
    const char *name;
    if (axes && !json_is_object(axes))
        return combine_error(sweep, "axes", error, "is %s, expected an object {key: values}", json_kind(axes));
    json_object_foreach(axes, name, value) {
        struct sweep_axis *axis = g_new0(struct sweep_axis, 1);
        g_autofree char *path = json_path_key("axes", name);
        axis->name = g_strdup(name);
        axis->choices = g_ptr_array_new_with_free_func(choice_free);
        g_ptr_array_add(sweep->axes, axis);
        struct axis_reader reader = {.source = &sweep->source, .axis = axis, .path = path, .error = error};
        if (!read_axis(&reader, value))
            return false;
    }
    return read_combine(sweep, error);
}

/* Which choice the combination has on an axis; `left` is what remains of a grid's number. */
static unsigned choice_of(const struct sweep *sweep, const struct sweep_axis *axis, uint64_t number, uint64_t *left) {
    unsigned count = axis->choices->len;
    if (sweep->combination == SWEEP_ZIP)
        return (unsigned)number;
    if (sweep->combination == SWEEP_SAMPLE)
        return (unsigned)((uint64_t)axis->order[number] * count / sweep->count);
    unsigned choice = (unsigned)(*left % count);
    *left /= count;
    return choice;
}

/* A place within the sample's strip of a range. */
static double sample_range(const struct sweep *sweep, unsigned index, uint64_t number) {
    const struct sweep_axis *axis = g_ptr_array_index(sweep->axes, index);
    double within = (double)(draw(sweep, index, number + sweep->count + 1) >> 11) * 0x1p-53;
    double at = (axis->order[number] + within) / (double)sweep->count;
    if (axis->logarithmic)
        return axis->from * pow(axis->to / axis->from, at);
    return axis->whole ? floor(axis->from + at * (axis->to - axis->from + 1))
                       : axis->from + at * (axis->to - axis->from);
}

static void add_sampled(const struct sweep *sweep, unsigned index, uint64_t number, GPtrArray *assignments,
                        json_t *labels) {
    const struct sweep_axis *axis = g_ptr_array_index(sweep->axes, index);
    g_autofree char *place = json_path_key("axes", axis->name);
    json_t *value = axis_number(axis, sample_range(sweep, index, number));
    g_ptr_array_add(assignments, assignment_new(axis->name, value, place));
    json_object_set_new(labels, axis->name, value);
}

static void add_choice(const struct sweep_axis *axis, const struct sweep_choice *choice, GPtrArray *assignments,
                       json_t *labels) {
    json_object_set(labels, axis->name, choice->label);
    for (guint i = 0; i < choice->assignments->len; i++) {
        const struct sweep_assignment *assignment = g_ptr_array_index(choice->assignments, i);
        g_ptr_array_add(assignments, assignment_new(assignment->key, assignment->value, assignment->place));
    }
}

void sweep_combination(const struct sweep *sweep, uint64_t number, GPtrArray *assignments, json_t *labels) {
    uint64_t left = number;
    g_autofree unsigned *choices = g_new0(unsigned, sweep->axes->len + 1);
    for (guint i = sweep->axes->len; i-- > 0;) {
        const struct sweep_axis *axis = g_ptr_array_index(sweep->axes, i);
        choices[i] = axis->continuous ? 0 : choice_of(sweep, axis, number, &left);
    }
    for (guint i = 0; i < sweep->axes->len; i++) {
        const struct sweep_axis *axis = g_ptr_array_index(sweep->axes, i);
        if (axis->continuous)
            add_sampled(sweep, i, number, assignments, labels);
        else
            add_choice(axis, g_ptr_array_index(axis->choices, choices[i]), assignments, labels);
    }
}

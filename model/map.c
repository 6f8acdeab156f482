/* See map.h. Every form is turned into `struct site`s, what stands where and who said so; from there on they are one.
 */
#include "model/map.h"

#include <stdlib.h>
#include <string.h>

#include "model/keys.h"

enum site_kind {
    SITE_NOTHING,
    SITE_TIED_OFF,
    SITE_PORT,
    SITE_UNIT,
    SITE_RETIRED,
};

static const struct {
    const char *token;
    enum site_kind kind;
    const char *type; /* of a unit; or what to use instead of a retired token */
} builtin_tokens[] = {
    {"xxx", SITE_NOTHING, NULL},  {"...", SITE_NOTHING, NULL},   {"nul", SITE_TIED_OFF, NULL},
    {"mag", SITE_PORT, NULL},     {"mat", SITE_UNIT, "cluster"}, {"vec", SITE_UNIT, "vector"},
    {"mgr", SITE_RETIRED, "mag"}, {"acu", SITE_RETIRED, "mat"},
};

enum {
    TOKEN_LENGTH = 3,
    PORT_UNBOUND = -1,
};

/* One unit or memory port, and where it was written. */
struct site {
    enum site_kind kind;
    const char *type; /* borrowed from the JSON tree or the token table */
    const char *name; /* given name, or NULL */
    unsigned x, y;
    int port; /* given port, or PORT_UNBOUND */
    char *path;
    const char *file;    /* a map file, or NULL for the JSON source */
    unsigned line, skip; /* in a map file: line and characters before; in JSON: characters into the string */
};

struct map {
    const struct json_source *source;
    struct machine *machine;
    const json_t *node; /* the object that describes this mesh: the whole file, or one of "meshes" */
    const char *prefix; /* its path */
    GArray *sites;      /* struct site; their paths begin at node */
    char *map_file;     /* path of the picture's own file, or NULL */
};

static void site_clear(void *data) {
    g_free(((struct site *)data)->path);
}

/* A path that begins at the mesh's own object, as one of the file. */
static char *full_path(const struct map *map, const char *path) {
    return map->prefix[0] && path[0] ? g_strconcat(map->prefix, ".", path, NULL) : g_strconcat(map->prefix, path, NULL);
}

static bool map_error(const struct map *map, GError **error, enum json_place place, const char *path, unsigned skip,
                      const char *format, ...) G_GNUC_PRINTF(6, 7);
static bool map_error(const struct map *map, GError **error, enum json_place place, const char *path, unsigned skip,
                      const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments), *full = full_path(map, path);
    va_end(arguments);
    return json_source_error(map->source, error, place, full, skip, "%s", text);
}

static bool site_error(const struct map *map, const struct site *site, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
static bool site_error(const struct map *map, const struct site *site, GError **error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (site->file)
        return json_source_error_at(error, site->file, site->line, site->skip + 1, site->path, "%s", text);
    return map_error(map, error, JSON_PLACE_VALUE, site->path, site->skip, "%s", text);
}

/* A key of this mesh. */
static const json_t *own(const struct map *map, const char *key) {
    return json_object_get(map->node, key);
}

/* A key that holds for all meshes. */
static const json_t *top(const struct map *map, const char *key) {
    return json_object_get(map->source->root, key);
}

/* ---- the picture ---- */

struct token {
    enum site_kind kind;
    const char *type;
};

static bool find_token(const struct map *map, const char *word, struct token *token) {
    for (size_t i = 0; i < G_N_ELEMENTS(builtin_tokens); i++)
        if (g_str_equal(builtin_tokens[i].token, word)) {
            *token = (struct token){builtin_tokens[i].kind, builtin_tokens[i].type};
            return true;
        }
    const json_t *type = json_object_get(top(map, "tokens"), word);
    *token = (struct token){SITE_UNIT, json_string_value(type)};
    return type != NULL;
}

static char *nearest_token(const struct map *map, const char *word) {
    GPtrArray *words = g_ptr_array_new();
    const char *word_of_file;
    json_t *type;
    for (size_t i = 0; i < G_N_ELEMENTS(builtin_tokens); i++)
        if (builtin_tokens[i].kind != SITE_RETIRED)
            g_ptr_array_add(words, (void *)builtin_tokens[i].token);
    json_object_foreach((json_t *)top(map, "tokens"), word_of_file, type) g_ptr_array_add(words, (void *)word_of_file);
    g_ptr_array_add(words, NULL);
    g_autofree char *all = g_strjoinv(", ", (char **)words->pdata);
    const char *near = nearest_word(word, (const char *const *)words->pdata, words->len - 1);
    char *text = near ? g_strdup_printf("perhaps %s", near) : g_strdup_printf("one of %s", all);
    g_ptr_array_unref(words);
    return text;
}

/* Notes what the token at `site` puts there; nothing for an empty place. */
static bool add_token(struct map *map, struct site *site, const char *word, GError **error) {
    struct token token;
    if (strlen(word) != TOKEN_LENGTH)
        return site_error(map, site, error, "'%s' is no token, expected three characters", word);
    if (!find_token(map, word, &token)) {
        g_autofree char *near = nearest_token(map, word);
        return site_error(map, site, error, "unknown token '%s', expected %s", word, near);
    }
    if (token.kind == SITE_RETIRED)
        return site_error(map, site, error, "token '%s' is retired, expected %s", word, token.type);
    site->kind = token.kind;
    site->type = token.type;
    struct site copy = *site;
    copy.path = g_strdup(site->path);
    g_array_append_val(map->sites, copy);
    return true;
}

/* One row: tokens between blanks and dashes, up to a '#'. `site` stands at the row's first character; `*columns` is the
 * number of tokens. */
static bool add_row(struct map *map, struct site *site, const char *row, unsigned *columns, GError **error) {
    const char *at = row, *end = row + strcspn(row, "#");
    unsigned start = site->skip;
    *columns = 0;
    while (at < end) {
        gsize gap = strspn(at, " \t\r-");
        at += MIN(gap, (gsize)(end - at));
        gsize length = MIN(strcspn(at, " \t\r-"), (gsize)(end - at));
        if (!length)
            break;
        g_autofree char *word = g_strndup(at, length);
        site->skip = start + (unsigned)g_utf8_strlen(row, at - row);
        site->x = (*columns)++;
        if (!add_token(map, site, word, error))
            return false;
        at += length;
    }
    site->skip = start;
    return true;
}

/* Rows after the first must be as long as the first. */
static bool check_columns(const struct map *map, const struct site *site, unsigned columns, unsigned *width,
                          GError **error) {
    if (site->y == 0)
        *width = columns;
    if (columns != *width)
        return site_error(map, site, error, "row has %u tokens and the first row %u, expected equally many", columns,
                          *width);
    return true;
}

static bool check_picture(struct map *map, const struct site *site, unsigned rows, unsigned columns, GError **error) {
    if (rows < 3 || columns < 3)
        return site_error(map, site, error,
                          "picture has %u rows of %u tokens, expected at least 3 x 3: one router and its edges", rows,
                          columns);
    map->machine->nx = columns - 2;
    map->machine->ny = rows - 2;
    return true;
}

static bool parse_rows(struct map *map, GError **error) {
    const json_t *rows = own(map, "map"), *row;
    size_t index;
    unsigned width = 0, columns;
    struct site whole = {.path = "map"};
    if (!json_is_array(rows))
        return map_error(map, error, JSON_PLACE_VALUE, "map", 0, "is %s, expected a list of rows", json_kind(rows));
    json_array_foreach(rows, index, row) {
        g_autofree char *path = json_path_index("map", index);
        struct site site = {.path = path, .y = (unsigned)index, .port = PORT_UNBOUND, .skip = 1};
        if (!json_is_string(row))
            return map_error(map, error, JSON_PLACE_VALUE, path, 0, "is %s, expected a row of tokens", json_kind(row));
        if (!add_row(map, &site, json_string_value(row), &columns, error) ||
            !check_columns(map, &site, columns, &width, error))
            return false;
    }
    return check_picture(map, &whole, (unsigned)json_array_size(rows), width, error);
}

static bool parse_file_rows(struct map *map, char **lines, GError **error) {
    unsigned rows = 0, width = 0, columns;
    for (unsigned i = 0; lines[i]; i++) {
        g_autofree char *path = json_path_index("map", rows);
        struct site site = {.path = path, .y = rows, .port = PORT_UNBOUND, .file = map->map_file, .line = i + 1};
        if (!add_row(map, &site, lines[i], &columns, error) ||
            (columns && !check_columns(map, &site, columns, &width, error)))
            return false;
        rows += columns > 0;
    }
    struct site whole = {.path = "map", .file = map->map_file, .line = 1};
    return check_picture(map, &whole, rows, width, error);
}

static bool parse_file(struct map *map, GError **error) {
    const json_t *name = own(map, "map_file");
    gsize length;
    if (!json_is_string(name))
        return map_error(map, error, JSON_PLACE_VALUE, "map_file", 0, "is %s, expected a file name", json_kind(name));
    g_autofree char *path = full_path(map, "map_file");
    map->map_file = json_source_beside(map->source, path, json_string_value(name));
    g_autofree char *text = json_source_read_text(map->map_file, &length, error);
    if (!text)
        return false;
    char **lines = g_strsplit(text, "\n", -1);
    bool fine = parse_file_rows(map, lines, error);
    g_strfreev(lines);
    return fine;
}

/* ---- the lists ---- */

/* A whole number min..max that must stand in the object. */
static bool get_whole(const struct map *map, const json_t *object, const char *path, const char *key, unsigned min,
                      unsigned max, int *value, GError **error) {
    g_autofree char *below = json_path_key(path, key);
    const json_t *given = json_object_get(object, key);
    if (json_is_integer(given) && json_integer_value(given) >= min && json_integer_value(given) <= max) {
        *value = (int)json_integer_value(given);
        return true;
    }
    char *dump = json_is_number(given) ? json_dumps(given, JSON_ENCODE_ANY) : NULL;
    map_error(map, error, JSON_PLACE_VALUE, below, 0, "is %s, expected a whole number %u..%u",
              dump ? dump : json_kind(given), min, max);
    free(dump);
    return false;
}

static bool get_text(const struct map *map, const json_t *object, const char *path, const char *key, const char **value,
                     GError **error) {
    g_autofree char *below = json_path_key(path, key);
    const json_t *given = json_object_get(object, key);
    *value = json_string_value(given);
    if (*value && (*value)[0])
        return true;
    return map_error(map, error, JSON_PLACE_VALUE, below, 0, "is %s, expected a text",
                     *value ? "empty" : json_kind(given));
}

/* Only the keys named in `known` (NULL-terminated) may stand in the object. */
static bool check_object(const struct map *map, const json_t *object, const char *path, const char *const *known,
                         GError **error) {
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return map_error(map, error, JSON_PLACE_VALUE, path, 0, "is %s, expected an object", json_kind(object));
    json_object_foreach((json_t *)object, key, value) {
        if (g_strv_contains(known, key))
            continue;
        g_autofree char *below = json_path_key(path, key), *all = g_strjoinv(", ", (char **)known);
        const char *near = nearest_word(key, known, g_strv_length((char **)known));
        return map_error(map, error, JSON_PLACE_KEY, below, 0, "unknown key, expected %s%s",
                         near ? "perhaps " : "one of ", near ? near : all);
    }
    return true;
}

/* Types a listed unit may name: the two of the architecture and those that "tokens" registers. */
static bool check_type(const struct map *map, const char *type, const char *path, GError **error) {
    GPtrArray *types = g_ptr_array_new();
    const char *token;
    json_t *name;
    bool known = false;
    g_ptr_array_add(types, "cluster");
    g_ptr_array_add(types, "vector");
    json_object_foreach((json_t *)top(map, "tokens"), token, name)
        g_ptr_array_add(types, (void *)json_string_value(name));
    for (guint i = 0; i < types->len; i++)
        known |= g_str_equal(types->pdata[i], type);
    const char *near = nearest_word(type, (const char *const *)types->pdata, types->len);
    g_ptr_array_unref(types);
    if (known)
        return true;
    g_autofree char *below = json_path_key(path, "type");
    return map_error(map, error, JSON_PLACE_VALUE, below, 0, "unknown unit type '%s', expected %s%s", type,
                     near ? "perhaps " : "cluster, vector, or a type that \"tokens\" names", near ? near : "");
}

static bool add_listed(struct map *map, const json_t *entry, const char *path, enum site_kind kind, GError **error) {
    static const char *const unit_keys[] = {"type", "x", "y", "port", "name", NULL};
    static const char *const port_keys[] = {"x", "y", NULL};
    int x = 0, y = 0;
    struct site site = {.kind = kind, .port = PORT_UNBOUND};
    if (!check_object(map, entry, path, kind == SITE_UNIT ? unit_keys : port_keys, error) ||
        !get_whole(map, entry, path, "x", 0, map->machine->nx + 1, &x, error) ||
        !get_whole(map, entry, path, "y", 0, map->machine->ny + 1, &y, error))
        return false;
    if (kind == SITE_UNIT &&
        (!get_text(map, entry, path, "type", &site.type, error) || !check_type(map, site.type, path, error)))
        return false;
    if (json_object_get(entry, "name") && !get_text(map, entry, path, "name", &site.name, error))
        return false;
    size_t ports = json_array_size(own(map, "ports"));
    if (json_object_get(entry, "port") &&
        !get_whole(map, entry, path, "port", 0, ports ? (unsigned)ports - 1 : 0, &site.port, error))
        return false;
    site.x = (unsigned)x;
    site.y = (unsigned)y;
    site.path = g_strdup(path);
    g_array_append_val(map->sites, site);
    return true;
}

static bool add_list(struct map *map, const char *key, enum site_kind kind, GError **error) {
    const json_t *list = own(map, key), *entry;
    size_t index;
    if (!list)
        return true;
    if (!json_is_array(list))
        return map_error(map, error, JSON_PLACE_VALUE, key, 0, "is %s, expected a list", json_kind(list));
    json_array_foreach(list, index, entry) {
        g_autofree char *path = json_path_index(key, index);
        if (!add_listed(map, entry, path, kind, error))
            return false;
    }
    return true;
}

static bool parse_lists(struct map *map, GError **error) {
    static const char *const keys[] = {"columns", "rows", NULL};
    const json_t *mesh = own(map, "mesh");
    unsigned most = map->machine->bare ? MAP_MAX_BARE_ROUTERS : MAP_MAX_ROUTERS;
    int columns = 0, rows = 0;
    if (!check_object(map, mesh, "mesh", keys, error) ||
        !get_whole(map, mesh, "mesh", "columns", 1, most, &columns, error) ||
        !get_whole(map, mesh, "mesh", "rows", 1, most, &rows, error))
        return false;
    map->machine->nx = (unsigned)columns;
    map->machine->ny = (unsigned)rows;
    return add_list(map, "ports", SITE_PORT, error) && add_list(map, "units", SITE_UNIT, error);
}

/* ---- what must hold of places ---- */

static bool is_corner(const struct machine *machine, const struct site *site) {
    return (site->x == 0 || site->x == machine->nx + 1) && (site->y == 0 || site->y == machine->ny + 1);
}

static bool is_edge(const struct machine *machine, const struct site *site) {
    return site->x == 0 || site->y == 0 || site->x == machine->nx + 1 || site->y == machine->ny + 1;
}

static const char *site_word(const struct site *site) {
    return site->kind == SITE_PORT ? "memory port" : site->kind == SITE_UNIT ? site->type : "link end";
}

static bool check_place(const struct map *map, const struct site *site, GError **error) {
    if (site->kind != SITE_NOTHING && is_corner(map->machine, site))
        return site_error(map, site, error, "%s stands in corner (%u,%u), which touches no router, expected nothing",
                          site_word(site), site->x, site->y);
    if (site->kind == SITE_PORT && !is_edge(map->machine, site))
        return site_error(map, site, error,
                          "memory port stands at (%u,%u) inside the mesh, expected on an edge: x 0 or %u, or y 0 or %u",
                          site->x, site->y, map->machine->nx + 1, map->machine->ny + 1);
    return true;
}

/* Two things on one place; `taken` holds the site of each place, by x and y. */
static bool check_alone(const struct map *map, const struct site **taken, const struct site *site, GError **error) {
    const struct site **place = &taken[site->y * (map->machine->nx + 2) + site->x];
    if (*place)
        return site_error(map, site, error, "%s stands at (%u,%u) where %s stands too, expected one thing a place",
                          site_word(site), site->x, site->y, (*place)->path);
    *place = site;
    return true;
}

static bool check_size(const struct map *map, GError **error) {
    const struct machine *machine = map->machine;
    struct site whole = {.path = "map", .file = map->map_file, .line = 1};
    if (machine->nx <= MAP_MAX_ROUTERS && machine->ny <= MAP_MAX_ROUTERS)
        return true;
    return site_error(map, &whole, error, "mesh has %u x %u routers, expected at most %d x %d", machine->nx,
                      machine->ny, MAP_MAX_ROUTERS, MAP_MAX_ROUTERS);
}

static bool check_ports(const struct map *map, GError **error) {
    unsigned ports = 0;
    for (guint i = 0; i < map->sites->len; i++) {
        const struct site *site = &g_array_index(map->sites, struct site, i);
        ports += site->kind == SITE_PORT;
        if (ports > MAP_MAX_PORTS)
            return site_error(map, site, error, "is memory port number %u, expected at most %d", ports, MAP_MAX_PORTS);
    }
    const char *where = own(map, "ports") ? "ports" : own(map, "mesh") ? "mesh" : "map";
    struct site whole = {.path = (char *)where, .file = map->map_file, .line = 1};
    return ports > 0 ||
           site_error(map, &whole, error, "mesh has no memory port, expected 1 to %d on its edges", MAP_MAX_PORTS);
}

static bool check_sites(const struct map *map, GError **error) {
    if (!check_size(map, error))
        return false;
    g_autofree const struct site **taken =
        g_new0(const struct site *, (gsize)(map->machine->nx + 2) * (map->machine->ny + 2));
    for (guint i = 0; i < map->sites->len; i++) {
        const struct site *site = &g_array_index(map->sites, struct site, i);
        if (!check_place(map, site, error) || !check_alone(map, taken, site, error))
            return false;
    }
    return check_ports(map, error);
}

/* ---- numbering and binding ---- */

static int reading_order(const void *a, const void *b) {
    const struct site *first = a, *second = b;
    if (first->y != second->y)
        return first->y < second->y ? -1 : 1;
    return first->x < second->x ? -1 : first->x > second->x;
}

static unsigned distance(const struct machine *machine, const struct machine_unit *unit, unsigned port) {
    struct machine_unit there = *unit;
    there.port = port;
    return machine_port_hops(machine, &there);
}

/* The nearest port that serves fewer than `most` units; one always does. */
static unsigned nearest_port(const struct machine *machine, const struct machine_unit *unit, const unsigned *served,
                             unsigned most) {
    unsigned best = MAP_MAX_PORTS;
    for (unsigned port = 0; port < machine->port_count; port++)
        if (served[port] < most &&
            (best == MAP_MAX_PORTS || distance(machine, unit, port) < distance(machine, unit, best)))
            best = port;
    return best;
}

static void bind_unit(const struct machine *machine, struct machine_unit *unit, int given, unsigned units,
                      unsigned *served) {
    unsigned share = (units + machine->port_count - 1) / machine->port_count;
    unsigned most = machine->memory.binding == BINDING_BALANCED ? share : UINT_MAX;
    if (given != PORT_UNBOUND)
        unit->port = (unsigned)given;
    else
        unit->port = machine->memory.binding == BINDING_FIRST ? 0 : nearest_port(machine, unit, served, most);
    served[unit->port]++;
}

static int unit_kind_of(const char *type) {
    return g_str_equal(type, "cluster") ? UNIT_CLUSTER : g_str_equal(type, "vector") ? UNIT_VECTOR : UNIT_PLUGIN;
}

/* Number of units of that type placed so far. */
static unsigned number_of(const struct machine *machine, const char *type) {
    unsigned number = 0;
    for (unsigned i = 0; i < machine->unit_count; i++)
        number += g_str_equal(machine->units[i].type, type);
    return number;
}

static bool place_unit(const struct map *map, const struct site *site, unsigned units, unsigned *served,
                       GError **error) {
    struct machine *machine = map->machine;
    char *name =
        site->name ? g_strdup(site->name) : g_strdup_printf("%s%u", site->type, number_of(machine, site->type));
    for (unsigned i = 0; i < machine->unit_count; i++)
        if (g_str_equal(machine->units[i].name, name)) {
            site_error(map, site, error, "name '%s' is that of the unit at (%u,%u) too, expected a name of its own",
                       name, machine->units[i].x, machine->units[i].y);
            g_free(name);
            return false;
        }
    struct machine_unit *unit = &machine->units[machine->unit_count++];
    *unit = (struct machine_unit){
        .kind = unit_kind_of(site->type), .type = g_strdup(site->type), .name = name, .x = site->x, .y = site->y};
    bind_unit(machine, unit, site->port, units, served);
    return true;
}

/* Ports first, since units are bound to them. A listed port keeps its place in the list. */
static bool place_all(struct map *map, GError **error) {
    struct machine *machine = map->machine;
    unsigned served[MAP_MAX_PORTS] = {0}, units = 0;
    machine->ports = g_new0(struct machine_port, MAP_MAX_PORTS);
    for (guint i = 0; i < map->sites->len; i++) {
        const struct site *site = &g_array_index(map->sites, struct site, i);
        units += site->kind == SITE_UNIT;
        if (site->kind == SITE_PORT)
            machine->ports[machine->port_count++] = (struct machine_port){site->x, site->y};
    }
    machine->units = g_new0(struct machine_unit, MAX(units, 1));
    g_array_sort(map->sites, reading_order);
    for (guint i = 0; i < map->sites->len; i++) {
        const struct site *site = &g_array_index(map->sites, struct site, i);
        if (site->kind == SITE_UNIT && !place_unit(map, site, units, served, error))
            return false;
    }
    return true;
}

/* ---- the keys around the mesh ---- */

static bool check_tokens(const struct map *map, GError **error) {
    const json_t *tokens = top(map, "tokens");
    const char *word;
    json_t *type;
    if (tokens && !json_is_object(tokens))
        return map_error(map, error, JSON_PLACE_VALUE, "tokens", 0, "is %s, expected an object of token and unit type",
                         json_kind(tokens));
    json_object_foreach((json_t *)tokens, word, type) {
        g_autofree char *path = json_path_key("tokens", word);
        const char *text;
        for (size_t i = 0; i < G_N_ELEMENTS(builtin_tokens); i++)
            if (g_str_equal(builtin_tokens[i].token, word))
                return map_error(map, error, JSON_PLACE_KEY, path, 0, "token is taken, expected three other letters");
        if (strlen(word) != TOKEN_LENGTH || strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789") != TOKEN_LENGTH)
            return map_error(map, error, JSON_PLACE_KEY, path, 0,
                             "is no token, expected three small letters or digits");
        if (!get_text(map, tokens, "tokens", word, &text, error))
            return false;
    }
    return true;
}

static bool read_plugins(const struct map *map, GError **error) {
    const json_t *plugins = top(map, "plugins"), *name;
    size_t index;
    if (!plugins)
        return true;
    if (!json_is_array(plugins))
        return map_error(map, error, JSON_PLACE_VALUE, "plugins", 0, "is %s, expected a list of files",
                         json_kind(plugins));
    map->machine->plugins = g_new0(char *, json_array_size(plugins) + 1);
    json_array_foreach(plugins, index, name) {
        g_autofree char *path = json_path_index("plugins", index);
        if (!json_string_length(name))
            return map_error(map, error, JSON_PLACE_VALUE, path, 0, "is %s, expected a file name",
                             json_is_string(name) ? "empty" : json_kind(name));
        g_autofree char *file = json_source_beside(map->source, path, json_string_value(name));
        map->machine->plugins[index] = g_canonicalize_filename(file, NULL);
    }
    return true;
}

/* Which forms are given: exactly one, and nothing that belongs to another. */
static bool check_forms(const struct map *map, GError **error) {
    static const char *const forms[] = {"map", "map_file", "mesh"};
    static const char *const lists[] = {"units", "ports"};
    const char *given = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
        if (given && own(map, forms[i]))
            return map_error(map, error, JSON_PLACE_KEY, forms[i], 0, "stands beside %s, expected one of the two",
                             given);
        if (own(map, forms[i]))
            given = forms[i];
    }
    if (!given)
        return map_error(map, error, JSON_PLACE_VALUE, "", 0, "machine has no mesh, expected map, map_file or mesh%s",
                         map->prefix[0] ? "" : " (or meshes)");
    bool mesh = g_str_equal(given, "mesh");
    if (map->machine->bare && !mesh)
        return map_error(map, error, JSON_PLACE_KEY, given, 0,
                         "stands beside bare, expected mesh with columns and rows");
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
        if (own(map, lists[i]) && (!mesh || map->machine->bare))
            return map_error(map, error, JSON_PLACE_KEY, lists[i], 0, "stands beside %s, expected it only with mesh",
                             mesh ? "bare" : given);
    return true;
}

/* The mesh that `map` describes. */
static bool parse_mesh(struct map *map, GError **error) {
    const json_t *bare = own(map, "bare");
    if (bare && !json_is_boolean(bare))
        return map_error(map, error, JSON_PLACE_VALUE, "bare", 0, "is %s, expected true or false", json_kind(bare));
    map->machine->bare = json_is_true(bare);
    if (!check_forms(map, error))
        return false;
    if (!(own(map, "map") ? parse_rows : own(map, "map_file") ? parse_file : parse_lists)(map, error))
        return false;
    return map->machine->bare || (check_sites(map, error) && place_all(map, error));
}

static bool parse_at(const struct json_source *source, const json_t *node, const char *prefix, struct machine *machine,
                     GError **error) {
    struct map map = {.source = source,
                      .machine = machine,
                      .node = node,
                      .prefix = prefix,
                      .sites = g_array_new(FALSE, FALSE, sizeof(struct site))};
    g_array_set_clear_func(map.sites, site_clear);
    bool fine = parse_mesh(&map, error);
    g_array_unref(map.sites);
    g_free(map.map_file);
    return fine;
}

/* ---- several meshes ---- */

/* One of "meshes": the parameters are those of the whole machine. */
static bool parse_one_of(const struct map *map, size_t index, GError **error) {
    static const char *const keys[] = {"map", "map_file", "mesh", "units", "ports", NULL};
    const json_t *node = json_array_get(top(map, "meshes"), index);
    g_autofree char *path = json_path_index("meshes", index);
    struct machine *mesh = &map->machine->meshes[map->machine->mesh_count++];
    keys_copy(mesh, map->machine);
    return check_object(map, node, path, keys, error) && parse_at(map->source, node, path, mesh, error);
}

/* The order in which the meshes are joined: each number once (noc-and-memory §10.1). */
static bool parse_line(const struct map *map, GError **error) {
    static const unsigned of_four[MACHINE_MAX_MESHES] = {0, 1, 3, 2};
    const json_t *line = top(map, "line");
    unsigned count = map->machine->mesh_count, seen = 0;
    for (unsigned i = 0; i < count; i++)
        map->machine->line[i] = count == MACHINE_MAX_MESHES ? of_four[i] : i;
    if (!line)
        return true;
    if (!json_is_array(line) || json_array_size(line) != count)
        return map_error(map, error, JSON_PLACE_VALUE, "line", 0, "is %s of %zu items, expected a list of %u meshes",
                         json_kind(line), json_array_size(line), count);
    for (unsigned i = 0; i < count; i++) {
        g_autofree char *path = json_path_index("line", i);
        const json_t *mesh = json_array_get(line, i);
        json_int_t id = json_is_integer(mesh) ? json_integer_value(mesh) : -1;
        if (id < 0 || id >= count || (seen & 1u << id))
            return map_error(map, error, JSON_PLACE_VALUE, path, 0,
                             "is no mesh or one that was named before, expected each of 0..%u once", count - 1);
        seen |= 1u << id;
        map->machine->line[i] = (unsigned)id;
    }
    return true;
}

static bool parse_meshes(const struct map *map, GError **error) {
    static const char *const single[] = {"map", "map_file", "mesh", "units", "ports", "bare"};
    const json_t *meshes = top(map, "meshes");
    size_t count = json_array_size(meshes);
    if (!json_is_array(meshes) || count < 2 || count > MACHINE_MAX_MESHES)
        return map_error(map, error, JSON_PLACE_VALUE, "meshes", 0,
                         "is %s of %zu items, expected a list of 2..%d meshes", json_kind(meshes), count,
                         MACHINE_MAX_MESHES);
    for (size_t i = 0; i < G_N_ELEMENTS(single); i++)
        if (top(map, single[i]))
            return map_error(map, error, JSON_PLACE_KEY, single[i], 0, "stands beside meshes, expected it inside one");
    map->machine->meshes = g_new0(struct machine, count);
    for (size_t i = 0; i < count; i++)
        if (!parse_one_of(map, i, error))
            return false;
    return parse_line(map, error);
}

bool map_parse(const struct json_source *source, struct machine *machine, GError **error) {
    struct map map = {.source = source, .machine = machine, .node = source->root, .prefix = ""};
    if (!check_tokens(&map, error) || !read_plugins(&map, error))
        return false;
    if (top(&map, "meshes"))
        return parse_meshes(&map, error);
    if (top(&map, "line"))
        return map_error(&map, error, JSON_PLACE_KEY, "line", 0, "stands without meshes, expected both or neither");
    return parse_at(source, source->root, "", machine, error);
}

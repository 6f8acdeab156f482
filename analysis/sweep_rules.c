/* Conditions and derived keys of a sweep: what names they may use, and what comes of them. docs/sweeps.md. */
#include <math.h>
#include <string.h>

#include "analysis/json_path.h"
#include "analysis/sweep_point.h"
#include "model/keys.h"

void sweep_rule_free(void *data) {
    struct sweep_rule *rule = data;
    g_free(rule->key);
    g_free(rule->place);
    expression_free(rule->expression);
    g_free(rule);
}

/* ---- reading ---- */

static bool rule_fault(const struct sweep *sweep, const char *place, struct expression_fault fault, GError **error) {
    json_source_error(&sweep->source, error, JSON_PLACE_VALUE, place, fault.column, "%s", fault.wrong);
    g_free(fault.wrong);
    return false;
}

static bool read_rule(struct sweep *sweep, GPtrArray *rules, const char *key, const char *place, const json_t *text,
                      GError **error) {
    struct expression_fault fault;
    if (!json_is_string(text))
        return json_source_error(&sweep->source, error, JSON_PLACE_VALUE, place, 0,
                                 "is %s, expected an expression in a text", json_kind(text));
    struct expression *expression = expression_parse(json_string_value(text), &fault);
    if (!expression)
        return rule_fault(sweep, place, fault, error);
    struct sweep_rule *rule = g_new(struct sweep_rule, 1);
    *rule = (struct sweep_rule){.key = g_strdup(key), .place = g_strdup(place), .expression = expression};
    g_ptr_array_add(rules, rule);
    return true;
}

static bool read_conditions(struct sweep *sweep, GError **error) {
    const json_t *when = json_object_get(sweep->source.root, "when"), *text;
    size_t index;
    if (!when || !json_is_array(when))
        return !when || read_rule(sweep, sweep->conditions, NULL, "when", when, error);
    json_array_foreach(when, index, text) {
        g_autofree char *place = json_path_index("when", index);
        if (!read_rule(sweep, sweep->conditions, NULL, place, text, error))
            return false;
    }
    return true;
}

bool sweep_read_rules(struct sweep *sweep, GError **error) {
    json_t *derive = json_object_get(sweep->source.root, "derive"), *text;
    const char *key;
    if (derive && !json_is_object(derive))
        return json_source_error(&sweep->source, error, JSON_PLACE_VALUE, "derive", 0,
                                 "is %s, expected an object {key: expression}", json_kind(derive));
    json_object_foreach(derive, key, text) {
        g_autofree char *place = json_path_key("derive", key);
        if (!read_rule(sweep, sweep->derived, key, place, text, error))
            return false;
    }
    return read_conditions(sweep, error);
}

/* ---- names ---- */

static struct value value_of(const json_t *json) {
    if (json_is_number(json))
        return (struct value){.kind = VALUE_NUMBER, .number = json_number_value(json)};
    if (json_is_boolean(json))
        return (struct value){.kind = VALUE_BOOL, .number = json_is_true(json)};
    if (json_is_string(json))
        return (struct value){.kind = VALUE_TEXT, .text = json_string_value(json)};
    return (struct value){.kind = VALUE_NONE};
}

static unsigned count_units(const struct machine *machine, int kind) {
    unsigned count = 0;
    for (unsigned i = 0; i < machine->unit_count; i++)
        count += machine->units[i].kind == kind;
    return count;
}

static double fact_columns(const struct machine *machine) {
    return machine->nx;
}
static double fact_rows(const struct machine *machine) {
    return machine->ny;
}
static double fact_routers(const struct machine *machine) {
    return (double)machine->nx * machine->ny;
}
static double fact_ports(const struct machine *machine) {
    return machine->port_count;
}
static double fact_clusters(const struct machine *machine) {
    return count_units(machine, UNIT_CLUSTER);
}
static double fact_vectors(const struct machine *machine) {
    return count_units(machine, UNIT_VECTOR);
}

/* What the map of a machine says, under names of its own. Of several meshes it is the sum. */
static const struct fact {
    const char *name;
    double (*of)(const struct machine *machine);
} facts[] = {
    {"columns", fact_columns}, {"rows", fact_rows},         {"routers", fact_routers},
    {"ports", fact_ports},     {"clusters", fact_clusters}, {"vector_cores", fact_vectors},
};

static bool look_up_fact(struct sweep_draft *draft, const struct fact *fact, struct value *value, char **wrong) {
    GError *error = NULL;
    if (!sweep_draft_machine(draft, &error)) {
        *wrong = g_strdup_printf("needs a machine that can be read: %s", error->message);
        g_error_free(error);
        return false;
    }
    *value = (struct value){.kind = VALUE_NUMBER, .number = fact->of(&draft->read)};
    for (unsigned i = 0; i < draft->read.mesh_count; i++)
        value->number += fact->of(&draft->read.meshes[i]);
    return true;
}

static bool look_up_workload(struct sweep_draft *draft, const char *key, struct value *value, char **wrong) {
    GError *error = NULL;
    if (!sweep_draft_workload(draft, &error)) {
        *wrong = g_strdup_printf("needs a workload that can be read: %s", error->message);
        g_error_free(error);
        return false;
    }
    const json_t *found = json_find(draft->workload, key);
    *value = value_of(found);
    if (!found)
        *wrong = g_strdup_printf("'workload.%s' is no key of the workload", key);
    return found;
}

static enum machine_preset preset_of(const struct json_source *machine) {
    const char *name = json_string_value(json_object_get(machine->root, "preset"));
    return name && g_str_equal(name, "ship") ? PRESET_SHIP : PRESET_BENCH;
}

/* A parameter as the machine's file has it, else its default; the machine need not be right yet. */
static bool look_up_parameter(const struct sweep_draft *draft, const char *name, struct value *value, char **wrong) {
    const char *path = g_str_has_prefix(name, "machine.") ? name + strlen("machine.") : name;
    const json_t *given = json_find(draft->machine.root, path);
    *value = value_of(given);
    for (size_t i = 0; !given && i < machine_key_count; i++) {
        if (!g_str_equal(machine_keys[i].path, path))
            continue;
        double number = machine_keys[i].defaults[preset_of(&draft->machine)];
        *value = machine_keys[i].type == KEY_STRING ? (struct value){.kind = VALUE_NONE}
                 : machine_keys[i].type == KEY_ENUM
                     ? (struct value){.kind = VALUE_TEXT, .text = machine_keys[i].names[(int)number]}
                     : (struct value){.kind = machine_keys[i].type == KEY_BOOL ? VALUE_BOOL : VALUE_NUMBER,
                                      .number = number};
        return true;
    }
    if (!given)
        *wrong = g_strdup_printf("'%s' is neither an axis nor a key nor columns, rows, routers, ports, clusters, "
                                 "vector_cores",
                                 name);
    return given;
}

static bool look_up(void *data, const char *name, struct value *value, char **wrong) {
    struct sweep_draft *draft = data;
    const json_t *label = json_object_get(draft->labels, name);
    *value = value_of(label);
    if (label)
        return true;
    if (g_str_equal(name, "seed")) {
        *value = (struct value){.kind = VALUE_NUMBER, .number = (double)draft->seed};
        return true;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(facts); i++)
        if (g_str_equal(name, facts[i].name))
            return look_up_fact(draft, &facts[i], value, wrong);
    if (g_str_has_prefix(name, "workload."))
        return look_up_workload(draft, name + strlen("workload."), value, wrong);
    return look_up_parameter(draft, name, value, wrong);
}

/* ---- applying ---- */

static bool evaluate(struct sweep_draft *draft, const struct sweep_rule *rule, struct value *value, GError **error) {
    struct expression_fault fault;
    return expression_evaluate(rule->expression, look_up, draft, value, &fault) ||
           rule_fault(draft->sweep, rule->place, fault, error);
}

static json_t *json_of(struct value value) {
    switch (value.kind) {
    case VALUE_BOOL:
        return json_boolean(value.number != 0);
    case VALUE_TEXT:
        return json_string(value.text);
    case VALUE_NUMBER:
        return value.number == floor(value.number) && fabs(value.number) < 0x1p53
                   ? json_integer((json_int_t)value.number)
                   : json_real(value.number);
    case VALUE_NONE:
        break;
    }
    return json_null();
}

bool sweep_derive(struct sweep_draft *draft, GError **error) {
    for (guint i = 0; i < draft->sweep->derived->len; i++) {
        const struct sweep_rule *rule = g_ptr_array_index(draft->sweep->derived, i);
        struct value value;
        if (!evaluate(draft, rule, &value, error))
            return false;
        struct sweep_assignment *assignment = g_new(struct sweep_assignment, 1);
        *assignment = (struct sweep_assignment){
            .key = g_strdup(rule->key), .value = json_of(value), .place = g_strdup(rule->place)};
        if (!sweep_assign(draft, assignment, error))
            return false;
    }
    return true;
}

bool sweep_conditions(struct sweep_draft *draft, bool *hold, GError **error) {
    *hold = true;
    for (guint i = 0; i < draft->sweep->conditions->len && *hold; i++) {
        const struct sweep_rule *rule = g_ptr_array_index(draft->sweep->conditions, i);
        struct value value;
        if (!evaluate(draft, rule, &value, error))
            return false;
        *hold = value_holds(value);
    }
    return true;
}

/* Small expressions over named values: the conditions and derived keys of a sweep, the filter of a table.
 * docs/sweeps.md has the language. A name is looked up by whoever evaluates; an expression itself knows no keys.
 * Numbers are doubles; a value that is not there (VALUE_NONE) makes arithmetic nothing and every comparison false. */
#pragma once

#include <stdbool.h>

#include <glib.h>

enum value_kind {
    VALUE_NONE,
    VALUE_NUMBER,
    VALUE_BOOL,
    VALUE_TEXT,
};

struct value {
    enum value_kind kind;
    double number;    /* of a VALUE_BOOL: 0 or 1 */
    const char *text; /* VALUE_TEXT; lives as long as what it came from */
};

/* What is wrong with an expression, and at which character of it (from 1). */
struct expression_fault {
    char *wrong; /* to be freed */
    unsigned column;
};

/* Gives `name` its value. False and a sentence in `wrong` when there is no such name. */
typedef bool expression_lookup(void *data, const char *name, struct value *value, char **wrong);

struct expression;

/* NULL and a fault when `text` is no expression. */
struct expression *expression_parse(const char *text, struct expression_fault *fault);
void expression_free(struct expression *expression);

bool expression_evaluate(const struct expression *expression, expression_lookup *lookup, void *data,
                         struct value *result, struct expression_fault *fault);

/* Calls `visit` with every name in the expression. */
void expression_names(const struct expression *expression, void (*visit)(void *data, const char *name), void *data);

/* Whether a condition holds: true, or a number other than 0. */
bool value_holds(struct value value);

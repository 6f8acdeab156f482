/* See expression.h. A tree made by precedence climbing; operators and functions are rows of tables. */
#include "analysis/expression.h"

#include <math.h>
#include <string.h>

enum operation {
    OP_LITERAL,
    OP_NAME,
    OP_CHOICE, /* a ? b : c */
    OP_OR,
    OP_AND,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER,
    OP_POWER,
    OP_NOT,
    OP_NEGATE,
    OP_CALL,
};

enum {
    MAX_ARGUMENTS = 3,
    MAX_NESTING = 200,
    CHOICE_LEVEL = 1,
    UNARY_LEVEL = 8,
};

/* Longest first where one is the start of another. `level` is how strongly it binds. */
static const struct infix {
    const char *text;
    enum operation operation;
    int level;
} infixes[] = {
    {"||", OP_OR, 2},      {"or", OP_OR, 2},      {"&&", OP_AND, 3},        {"and", OP_AND, 3},
    {"==", OP_EQUAL, 4},   {"!=", OP_UNEQUAL, 4}, {"<=", OP_LESS_EQUAL, 5}, {">=", OP_GREATER_EQUAL, 5},
    {"<", OP_LESS, 5},     {">", OP_GREATER, 5},  {"+", OP_ADD, 6},         {"-", OP_SUBTRACT, 6},
    {"*", OP_MULTIPLY, 7}, {"/", OP_DIVIDE, 7},   {"%", OP_REMAINDER, 7},   {"^", OP_POWER, 9},
};

static double call_min(const double *a) {
    return fmin(a[0], a[1]);
}
static double call_max(const double *a) {
    return fmax(a[0], a[1]);
}
static double call_abs(const double *a) {
    return fabs(a[0]);
}
static double call_floor(const double *a) {
    return floor(a[0]);
}
static double call_ceil(const double *a) {
    return ceil(a[0]);
}
static double call_round(const double *a) {
    return round(a[0]);
}
static double call_log2(const double *a) {
    return log2(a[0]);
}
static double call_sqrt(const double *a) {
    return sqrt(a[0]);
}

static const struct function {
    const char *name;
    unsigned arguments;
    double (*call)(const double *arguments);
} functions[] = {
    {"min", 2, call_min},   {"max", 2, call_max},     {"abs", 1, call_abs},   {"floor", 1, call_floor},
    {"ceil", 1, call_ceil}, {"round", 1, call_round}, {"log2", 1, call_log2}, {"sqrt", 1, call_sqrt},
};

struct expression {
    enum operation operation;
    unsigned column;
    struct value literal;
    char *name; /* OP_NAME, and the text of a literal */
    const struct function *function;
    struct expression *parts[MAX_ARGUMENTS];
};

struct parser {
    const char *text, *at;
    unsigned nesting;
    struct expression_fault *fault;
};

void expression_free(struct expression *expression) {
    if (!expression)
        return;
    for (unsigned i = 0; i < MAX_ARGUMENTS; i++)
        expression_free(expression->parts[i]);
    g_free(expression->name);
    g_free(expression);
}

/* ---- reading ---- */

static struct expression *parse_level(struct parser *parser, int level);

static unsigned column_of(const struct parser *parser) {
    return (unsigned)g_utf8_strlen(parser->text, parser->at - parser->text) + 1;
}

static struct expression *parse_fault(struct parser *parser, const char *expected) {
    g_autofree char *here = *parser->at ? g_strdup_printf("'%.20s'", parser->at) : g_strdup("the end");
    *parser->fault = (struct expression_fault){.wrong = g_strdup_printf("found %s, expected %s", here, expected),
                                               .column = column_of(parser)};
    return NULL;
}

static struct expression *make(struct parser *parser, enum operation operation) {
    struct expression *made = g_new0(struct expression, 1);
    made->operation = operation;
    made->column = column_of(parser);
    return made;
}

static void skip_space(struct parser *parser) {
    while (g_ascii_isspace(*parser->at))
        parser->at++;
}

static bool is_name_character(char c) {
    return g_ascii_isalnum(c) || c == '_' || c == '.' || c == '[' || c == ']';
}

/* A word operator must not be the start of a name. */
static bool stands_here(const struct parser *parser, const char *token) {
    gsize length = strlen(token);
    return strncmp(parser->at, token, length) == 0 &&
           !(g_ascii_isalpha(token[0]) && is_name_character(parser->at[length]));
}

static bool take(struct parser *parser, const char *token) {
    skip_space(parser);
    if (!stands_here(parser, token))
        return false;
    parser->at += strlen(token);
    return true;
}

static struct expression *parse_text(struct parser *parser) {
    char quote = *parser->at;
    const char *end = strchr(parser->at + 1, quote);
    if (!end)
        return parse_fault(parser, "the closing quote");
    struct expression *made = make(parser, OP_LITERAL);
    made->name = g_strndup(parser->at + 1, (gsize)(end - parser->at - 1));
    made->literal = (struct value){.kind = VALUE_TEXT, .text = made->name};
    parser->at = end + 1;
    return made;
}

static struct expression *parse_number(struct parser *parser) {
    char *end;
    double number = g_ascii_strtod(parser->at, &end);
    if (end == parser->at || is_name_character(*end) || !isfinite(number))
        return parse_fault(parser, "a number");
    struct expression *made = make(parser, OP_LITERAL);
    made->literal = (struct value){.kind = VALUE_NUMBER, .number = number};
    parser->at = end;
    return made;
}

static const struct function *find_function(const char *name) {
    for (size_t i = 0; i < G_N_ELEMENTS(functions); i++)
        if (g_str_equal(functions[i].name, name))
            return &functions[i];
    return NULL;
}

static struct expression *parse_call(struct parser *parser, struct expression *made) {
    made->operation = OP_CALL;
    made->function = find_function(made->name);
    for (unsigned i = 0; made->function && i < made->function->arguments; i++) {
        const char *after = i + 1 < made->function->arguments ? "," : ")";
        made->parts[i] = parse_level(parser, CHOICE_LEVEL);
        if (!made->parts[i] || take(parser, after))
            if (made->parts[i])
                continue;
        if (made->parts[i])
            parse_fault(parser, after[0] == ',' ? "',' and another argument" : "')'");
        expression_free(made);
        return NULL;
    }
    if (made->function)
        return made;
    parser->at -= strlen(made->name) + 1;
    expression_free(made);
    return parse_fault(parser, "one of min, max, abs, floor, ceil, round, log2, sqrt");
}

static struct expression *parse_name(struct parser *parser) {
    struct expression *made = make(parser, OP_NAME);
    const char *start = parser->at;
    while (is_name_character(*parser->at))
        parser->at++;
    made->name = g_strndup(start, (gsize)(parser->at - start));
    bool yes = g_str_equal(made->name, "true");
    if (yes || g_str_equal(made->name, "false")) {
        made->operation = OP_LITERAL;
        made->literal = (struct value){.kind = VALUE_BOOL, .number = yes};
        return made;
    }
    if (*parser->at != '(')
        return made;
    parser->at++;
    return parse_call(parser, made);
}

static struct expression *parse_unary(struct parser *parser, enum operation operation, unsigned skip, int level) {
    struct expression *made = make(parser, operation);
    parser->at += skip;
    made->parts[0] = parse_level(parser, level);
    if (made->parts[0])
        return made;
    expression_free(made);
    return NULL;
}

static struct expression *parse_group(struct parser *parser) {
    parser->at++;
    struct expression *inside = parse_level(parser, CHOICE_LEVEL);
    if (!inside || take(parser, ")"))
        return inside;
    expression_free(inside);
    return parse_fault(parser, "')' or an operator");
}

static struct expression *parse_operand(struct parser *parser) {
    skip_space(parser);
    char first = *parser->at;
    if (first == '(')
        return parse_group(parser);
    if (first == '\'' || first == '"')
        return parse_text(parser);
    if (g_ascii_isdigit(first) || (first == '.' && g_ascii_isdigit(parser->at[1])))
        return parse_number(parser);
    if (first == '-')
        return parse_unary(parser, OP_NEGATE, 1, UNARY_LEVEL);
    if (first == '!')
        return parse_unary(parser, OP_NOT, 1, UNARY_LEVEL);
    if (stands_here(parser, "not"))
        return parse_unary(parser, OP_NOT, 3, 4);
    if (g_ascii_isalpha(first) || first == '_')
        return parse_name(parser);
    return parse_fault(parser, "a name, a number, a text in quotes or '('");
}

static const struct infix *infix_here(struct parser *parser, int level) {
    skip_space(parser);
    for (size_t i = 0; i < G_N_ELEMENTS(infixes); i++)
        if (stands_here(parser, infixes[i].text))
            return infixes[i].level >= level ? &infixes[i] : NULL;
    return NULL;
}

/* a OPERATOR b: takes over `left`. */
static struct expression *parse_infix(struct parser *parser, const struct infix *infix, struct expression *left) {
    struct expression *made = make(parser, infix->operation);
    parser->at += strlen(infix->text);
    made->parts[0] = left;
    made->parts[1] = parse_level(parser, infix->operation == OP_POWER ? UNARY_LEVEL : infix->level + 1);
    if (made->parts[1])
        return made;
    expression_free(made);
    return NULL;
}

static struct expression *parse_choice(struct parser *parser, struct expression *condition) {
    struct expression *made = make(parser, OP_CHOICE);
    parser->at++;
    made->parts[0] = condition;
    made->parts[1] = parse_level(parser, CHOICE_LEVEL);
    bool colon = made->parts[1] && take(parser, ":");
    if (made->parts[1] && !colon)
        parse_fault(parser, "':'");
    made->parts[2] = colon ? parse_level(parser, CHOICE_LEVEL) : NULL;
    if (made->parts[2])
        return made;
    expression_free(made);
    return NULL;
}

static struct expression *parse_level(struct parser *parser, int level) {
    if (++parser->nesting > MAX_NESTING)
        return parse_fault(parser, "less nesting");
    struct expression *left = parse_operand(parser);
    const struct infix *infix;
    while (left && (infix = infix_here(parser, level)))
        left = parse_infix(parser, infix, left);
    if (left && level <= CHOICE_LEVEL && *parser->at == '?')
        left = parse_choice(parser, left);
    parser->nesting--;
    return left;
}

struct expression *expression_parse(const char *text, struct expression_fault *fault) {
    struct parser parser = {.text = text, .at = text, .fault = fault};
    struct expression *whole = parse_level(&parser, CHOICE_LEVEL);
    skip_space(&parser);
    if (!whole || !*parser.at)
        return whole;
    expression_free(whole);
    return parse_fault(&parser, "an operator or the end");
}

/* ---- evaluating ---- */

struct evaluation {
    expression_lookup *lookup;
    void *data;
    struct expression_fault *fault;
};

static bool evaluate(const struct evaluation *with, const struct expression *node, struct value *result);

static bool evaluation_fault(const struct evaluation *with, const struct expression *node, char *wrong) {
    *with->fault = (struct expression_fault){.wrong = wrong, .column = node->column};
    return false;
}

bool value_holds(struct value value) {
    return (value.kind == VALUE_BOOL || value.kind == VALUE_NUMBER) && value.number != 0;
}

static struct value truth(bool yes) {
    return (struct value){.kind = VALUE_BOOL, .number = yes};
}

static bool same(struct value a, struct value b) {
    if (a.kind == VALUE_TEXT || b.kind == VALUE_TEXT)
        return a.kind == b.kind && g_str_equal(a.text, b.text);
    return a.number == b.number;
}

static double arithmetic(enum operation operation, double a, double b) {
    switch (operation) {
    case OP_ADD:
        return a + b;
    case OP_SUBTRACT:
        return a - b;
    case OP_MULTIPLY:
        return a * b;
    case OP_DIVIDE:
        return a / b;
    case OP_REMAINDER:
        return fmod(a, b);
    default:
        return pow(a, b);
    }
}

static bool ordered(enum operation operation, double a, double b) {
    switch (operation) {
    case OP_LESS:
        return a < b;
    case OP_LESS_EQUAL:
        return a <= b;
    case OP_GREATER:
        return a > b;
    default:
        return a >= b;
    }
}

/* Everything that takes two values, both known. */
static bool combine(const struct evaluation *with, const struct expression *node, struct value a, struct value b,
                    struct value *result) {
    bool nothing = a.kind == VALUE_NONE || b.kind == VALUE_NONE;
    bool compares = node->operation >= OP_EQUAL && node->operation <= OP_GREATER_EQUAL;
    if (nothing) {
        *result = compares ? truth(false) : (struct value){.kind = VALUE_NONE};
        return true;
    }
    if (node->operation == OP_EQUAL || node->operation == OP_UNEQUAL) {
        *result = truth(same(a, b) == (node->operation == OP_EQUAL));
        return true;
    }
    if (a.kind == VALUE_TEXT || b.kind == VALUE_TEXT)
        return evaluation_fault(with, node, g_strdup("a text has no size, expected numbers"));
    if (compares) {
        *result = truth(ordered(node->operation, a.number, b.number));
        return true;
    }
    *result = (struct value){.kind = VALUE_NUMBER, .number = arithmetic(node->operation, a.number, b.number)};
    return isfinite(result->number) || evaluation_fault(with, node, g_strdup("gives no finite number"));
}

static bool evaluate_name(const struct evaluation *with, const struct expression *node, struct value *result) {
    char *wrong = NULL;
    if (with->lookup(with->data, node->name, result, &wrong))
        return true;
    return evaluation_fault(with, node, wrong ? wrong : g_strdup_printf("'%s' is not known", node->name));
}

static bool evaluate_call(const struct evaluation *with, const struct expression *node, struct value *result) {
    double arguments[MAX_ARGUMENTS] = {0};
    bool nothing = false;
    for (unsigned i = 0; i < node->function->arguments; i++) {
        struct value value;
        if (!evaluate(with, node->parts[i], &value))
            return false;
        if (value.kind == VALUE_TEXT)
            return evaluation_fault(with, node, g_strdup_printf("%s of a text, expected a number", node->name));
        nothing = nothing || value.kind == VALUE_NONE;
        arguments[i] = value.number;
    }
    *result = (struct value){.kind = nothing ? VALUE_NONE : VALUE_NUMBER,
                             .number = nothing ? 0 : node->function->call(arguments)};
    return isfinite(result->number) || evaluation_fault(with, node, g_strdup("gives no finite number"));
}

/* `and`, `or`, `?:` look at the second part only when the first does not decide. */
static bool evaluate_logic(const struct evaluation *with, const struct expression *node, struct value *result) {
    struct value first;
    if (!evaluate(with, node->parts[0], &first))
        return false;
    bool holds = value_holds(first);
    if (node->operation == OP_CHOICE)
        return evaluate(with, node->parts[holds ? 1 : 2], result);
    *result = truth(holds);
    if (node->operation == OP_NOT || holds == (node->operation == OP_OR)) {
        result->number = node->operation == OP_NOT ? !holds : holds;
        return true;
    }
    if (!evaluate(with, node->parts[1], result))
        return false;
    *result = truth(value_holds(*result));
    return true;
}

static bool evaluate(const struct evaluation *with, const struct expression *node, struct value *result) {
    struct value a, b = {.kind = VALUE_NUMBER};
    switch (node->operation) {
    case OP_LITERAL:
        *result = node->literal;
        return true;
    case OP_NAME:
        return evaluate_name(with, node, result);
    case OP_CALL:
        return evaluate_call(with, node, result);
    case OP_CHOICE:
    case OP_OR:
    case OP_AND:
    case OP_NOT:
        return evaluate_logic(with, node, result);
    default:
        if (!evaluate(with, node->parts[0], &a) || (node->parts[1] && !evaluate(with, node->parts[1], &b)))
            return false;
        if (node->operation != OP_NEGATE)
            return combine(with, node, a, b, result);
        if (a.kind == VALUE_TEXT)
            return evaluation_fault(with, node, g_strdup("minus a text, expected a number"));
        a.number = -a.number;
        a.kind = a.kind == VALUE_BOOL ? VALUE_NUMBER : a.kind;
        *result = a;
        return true;
    }
}

bool expression_evaluate(const struct expression *expression, expression_lookup *lookup, void *data,
                         struct value *result, struct expression_fault *fault) {
    struct evaluation with = {.lookup = lookup, .data = data, .fault = fault};
    return evaluate(&with, expression, result);
}

void expression_names(const struct expression *expression, void (*visit)(void *data, const char *name), void *data) {
    if (!expression)
        return;
    if (expression->operation == OP_NAME)
        visit(data, expression->name);
    for (unsigned i = 0; i < MAX_ARGUMENTS; i++)
        expression_names(expression->parts[i], visit, data);
}

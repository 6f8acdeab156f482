/* Tokens of the assembly text; see lex.h. */
#include "model/isa/lex.h"

#include <string.h>

/* Length of the token at `text`. */
static size_t token_length(const char *text) {
    int depth = 0;
    size_t length = 0;
    if (text[0] == '"') {
        const char *close = strchr(text + 1, '"');
        return close ? (size_t)(close - text) + 1 : strlen(text);
    }
    for (; text[length] != '\0' && text[length] != '#'; length++) {
        char c = text[length];
        bool inside_list = c == ',' && length > 0 && text[length - 1] == ')' && text[length + 1] == '(';
        if (depth == 0 && (g_ascii_isspace(c) || (c == ',' && !inside_list)))
            break;
        depth += (c == '(' || c == '[') - (depth > 0 && (c == ')' || c == ']'));
    }
    while (length > 0 && g_ascii_isspace(text[length - 1]))
        length--;
    return length;
}

void asm_line_split(struct asm_line *line, const char *file, unsigned number, const char *text) {
    GArray *tokens = g_array_new(FALSE, FALSE, sizeof(struct asm_token));
    const char *at = text;
    *line = (struct asm_line){.file = file, .number = number, .end = 1};
    for (;;) {
        while (g_ascii_isspace(*at) || *at == ',')
            at++;
        if (*at == '\0' || *at == '#')
            break;
        size_t length = token_length(at);
        struct asm_token token = {g_strndup(at, length), (unsigned)(at - text) + 1};
        g_array_append_val(tokens, token);
        at += length;
        line->end = (unsigned)(at - text) + 1;
    }
    line->count = tokens->len;
    line->tokens = (struct asm_token *)(void *)g_array_free(tokens, FALSE);
}

void asm_line_clear(struct asm_line *line) {
    for (unsigned i = 0; i < line->count; i++)
        g_free(line->tokens[i].text);
    g_free(line->tokens);
    *line = (struct asm_line){0};
}

bool asm_error(const struct asm_line *line, unsigned index, GError **error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *sentence = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    unsigned column = index < line->count ? line->tokens[index].column : line->end;
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s:%u:%u: %s", line->file, line->number, column, sentence);
    return false;
}

bool asm_error_at(const struct asm_line *line, unsigned index, GError **error) {
    if (!error)
        return false;
    g_autoptr(GError) cause = *error;
    *error = NULL;
    return asm_error(line, index, error, "%s", cause ? cause->message : "not valid");
}

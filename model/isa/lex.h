/* Lines and tokens of the assembly text (docs/assembly.md), and errors that say where they are. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/error.h"

struct asm_token {
    char *text;      /* owned by the line */
    unsigned column; /* 1-based, of its first byte */
};

struct asm_line {
    const char *file; /* name for errors */
    unsigned number;  /* 1-based */
    struct asm_token *tokens;
    unsigned count;
    unsigned end; /* column just past the last token */
};

/* Splits `text` (without its newline) at white space and commas outside parentheses and brackets; the comma of a list
 * "(1,1),(2,1)" does not split. # starts a comment, but not inside a token in double quotes. */
void asm_line_split(struct asm_line *line, const char *file, unsigned number, const char *text);
void asm_line_clear(struct asm_line *line);

/* Sets FS_ERROR_INPUT "FILE:LINE:COL: sentence" at token `index` (past the last token: at the end of the line).
 * Always returns false. */
bool asm_error(const struct asm_line *line, unsigned index, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
/* Replaces *error by FS_ERROR_INPUT with the position of token `index` in front of its sentence; returns false. */
bool asm_error_at(const struct asm_line *line, unsigned index, GError **error);

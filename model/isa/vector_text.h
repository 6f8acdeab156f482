/* Vector core words as text: mnemonics, named registers, chains, predication (docs/assembly.md, compute-units §7.4 to
 * §7.6). A word whose unused bits are not zero has no mnemonic form and reads as .word. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/isa/lex.h"

/* Parses the instruction at token `first` and appends its words (uint32_t) to `words`: one, or two for a VSETI with its
 * value. A VLOOP that names a label stores a copy of the name in *label (else NULL) and leaves its body length 0 for
 * vector_loop_resolve. FS_ERROR_INPUT with the position. */
bool vector_text_parse(const struct asm_line *line, unsigned first, GArray *words, char **label, GError **error);
/* Puts the body length of the VLOOP at index `at` so that its loop ends before word `target`; false when the body would
 * not be 0..15 words. */
bool vector_loop_resolve(uint32_t *word, unsigned at, unsigned target);

/* Appends one word's text, e.g. "vfma v4, v1, s5, k1 where p1"; a VSETI without its value. */
void vector_word_print(uint32_t bits, GString *out);
/* Appends `count` words as lines with four spaces before each; a VSETI shows its value. */
void vector_words_print(const uint32_t *words, unsigned count, GString *out);

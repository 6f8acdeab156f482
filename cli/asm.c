/* flitsim asm FILE: checks a program's text and prints it as words; flitsim disasm FILE: words back to text. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "model/isa/text.h"
#include "model/isa/wire.h"

/* One line an instruction: node, slot, and the flit as it is staged. */
static void print_words(const struct asm_program *program) {
    for (unsigned i = 0; i < asm_program_count(program); i++) {
        const struct asm_item *item = asm_program_item(program, i);
        const struct asm_instruction *inst = &item->instruction;
        if (item->kind != ASM_INSTRUCTION)
            continue;
        char hex[WORD_BITS / 4 + 1];
        word_to_hex(&inst->payload, hex);
        printf("stage %u node %02x type %u txn %u last %u rsvd %u payload %s\n", inst->slot, inst->node, inst->type,
               inst->txn, inst->last, inst->rsvd, hex);
    }
}

int command_asm(int argc, char **argv) {
    GError *error = NULL;
    gboolean text = FALSE;
    const GOptionEntry entries[] = {
        {"text", 't', 0, G_OPTION_ARG_NONE, &text, "Print the canonical text instead of words", NULL}, {NULL}};
    if (!cli_options(&argc, &argv, entries, "FILE", "Assembles a program and prints its staged flits.", 1, 1))
        return CLI_AT_FAULT;
    g_autoptr(asm_program_owned) program = asm_program_load(argv[1], &error);
    if (!program)
        return cli_fail(error);
    if (!text) {
        print_words(program);
        return CLI_DONE;
    }
    GString *out = g_string_new(NULL);
    asm_program_print(program, out);
    fputs(out->str, stdout);
    g_string_free(out, TRUE);
    return CLI_DONE;
}

/* Reads lines as print_words writes them. */
static gboolean read_words(const char *path, struct asm_program *program, GError **error) {
    g_autofree char *text = NULL;
    g_autoptr(GError) cause = NULL;
    if (!g_file_get_contents(path, &text, NULL, &cause)) {
        g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: (file): can't be opened: %s, expected a readable file", path,
                    fs_error_reason(cause));
        return FALSE;
    }
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (unsigned i = 0; lines[i]; i++) {
        unsigned slot, node, type, txn, last, rsvd;
        char hex[WORD_BITS / 4 + 1];
        struct asm_item item = {.kind = ASM_INSTRUCTION, .line = i + 1};
        if (!lines[i][0] || lines[i][0] == '#')
            continue;
        int fields = sscanf(lines[i], "stage %u node %x type %u txn %u last %u rsvd %u payload %64s", &slot, &node,
                            &type, &txn, &last, &rsvd, hex);
        if (fields != 7 || node > 255 || type > 15 || txn > 255 || last > 1 || rsvd > 7 ||
            !word_from_hex(hex, &item.instruction.payload, NULL)) {
            g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s:%u:1: is no staged flit, expected a line of `flitsim asm`",
                        path, i + 1);
            return FALSE;
        }
        struct asm_instruction *inst = &item.instruction;
        *inst = (struct asm_instruction){
            .node = node, .slot = slot, .type = type, .txn = txn, .last = last, .rsvd = rsvd, .payload = inst->payload};
        inst->form = asm_instruction_form(inst, ASM_CLUSTER);
        asm_program_add(program, &item);
    }
    return TRUE;
}

int command_disasm(int argc, char **argv) {
    GError *error = NULL;
    if (!cli_options(&argc, &argv, NULL, "FILE", "Prints staged flits, as `flitsim asm` writes them, as text.", 1, 1))
        return CLI_AT_FAULT;
    g_autoptr(asm_program_owned) program = asm_program_new();
    if (!read_words(argv[1], program, &error))
        return cli_fail(error);
    GString *out = g_string_new(NULL);
    asm_program_print(program, out);
    fputs(out->str, stdout);
    g_string_free(out, TRUE);
    return CLI_DONE;
}

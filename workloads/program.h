/* Running a program text (docs/assembly.md) on a system that is built and has its memory loaded. */
#pragma once

#include "model/isa/text.h"
#include "workloads/run.h"

/* Stages, drives run->system to its end and notes the facts `program.*`. file: for messages, and where memory files are
 * looked for. credit: seeded when the text has no host commands, 0: the instruction queue's depth. */
bool program_execute(struct run *run, const struct asm_program *program, const char *file, unsigned credit,
                     GError **error);

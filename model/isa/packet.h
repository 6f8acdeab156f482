/* Flits other than instructions by mnemonic: rdreq, wrreq, signal, ctrl, data (noc-and-memory §2.6). */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/isa/field.h"
#include "model/word.h"

/* Layout and type of a mnemonic; NULL when there is none. */
const struct isa_layout *packet_find(const char *mnemonic, uint8_t *type);
/* Whether the payload has no bits outside the layout of its type. */
bool packet_exact(uint8_t type, const struct word256 *payload);
/* Appends mnemonic and fields; the payload must be exact. */
void packet_print(uint8_t type, const struct word256 *payload, GString *out);

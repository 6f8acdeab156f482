/* What a host says to one mesh: the dispatch agent's register window (noc-and-memory §5.2), the commands of the
 * control-program engine (§5.8), and the fields of the mover and interlink registers behind AUX_CFG (§8.8, §10.8). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/error.h"
#include "model/isa/field.h"

/* Offsets in the agent window; each register is 64 bits. */
enum agent_offset {
    AGENT_CTRL = 0x0000,
    AGENT_STATUS = 0x0008,
    AGENT_CAPS = 0x0010,
    AGENT_IRQ_STAT = 0x0018,
    AGENT_IRQ_EN = 0x0020,
    AGENT_PROG_DST = 0x0040,
    AGENT_PROG_LEN = 0x0048,
    AGENT_PROG_KICK = 0x0050,
    AGENT_PROG_STAT = 0x0058,
    AGENT_PROG_CRED = 0x0060,
    AGENT_PROG_BASE = 0x0068,
    AGENT_SIG_DONE = 0x0070,
    AGENT_AUX_STAT = 0x0078,
    AGENT_AUX_STATW = 0x0080, /* 16 words */
    AGENT_TX_FLIT = 0x0100,   /* 5 words */
    AGENT_TX_KICK = 0x0140,
    AGENT_TX_STATUS = 0x0148,
    AGENT_RX_FLIT = 0x0180, /* 5 words */
    AGENT_RX_POP = 0x01C0,
    AGENT_RX_STATUS = 0x01C8,
    AGENT_AUX_CFG = 0x0800,     /* 0x00..0x7F mover, 0x80..0xFF interlink */
    AGENT_NODE_STATUS = 0x1000, /* + 8 * node byte */
    AGENT_STAGE = 0x2000,       /* + 40 * slot + 8 * word */
    AGENT_WINDOW_BYTES = 0x10000,
};

enum {
    STAGE_FLIT_WORDS = 5, /* 64-bit words of a staged flit, low first */
};

/* The engine's own registers. In this simulator's text they sit in the second 64 KB of a mesh's window, as in the
 * recorded runs. */
enum engine_offset {
    ENGINE_WINDOW = 0x10000,
    ENGINE_CONTROL = ENGINE_WINDOW + 0x0000, /* W bit 0 GO; R bit 0 busy, 1 done, 2 error */
    ENGINE_INDEX = ENGINE_WINDOW + 0x0008,
    ENGINE_CODE = ENGINE_WINDOW + 0x0010,
    ENGINE_POLLS = ENGINE_WINDOW + 0x0018,
    ENGINE_COMMANDS = ENGINE_WINDOW + 0x1000, /* + 32 * n + 8 * field */
};

enum {
    CONTROL_PROGRAM_MAX = 128, /* commands an engine holds */
    CONTROL_COMMAND_WORDS = 4,
};

enum control_op {
    CONTROL_WR = 1,
    CONTROL_POLL = 2,
    CONTROL_DONE = 3,
};

struct control_command {
    uint8_t op;       /* 4 bits, enum control_op; any other stops the engine with error */
    uint64_t address; /* WR, POLL */
    uint64_t data;    /* WR: value; POLL: wanted value; DONE: code */
    uint64_t mask;    /* POLL: applied to the value read only */
};

/* The four 64-bit fields in the order of the command's registers. FS_ERROR_RANGE when op exceeds 15. */
bool control_command_encode(const struct control_command *command, uint64_t words[static CONTROL_COMMAND_WORDS],
                            GError **error);
void control_command_decode(const uint64_t words[static CONTROL_COMMAND_WORDS], struct control_command *command);
/* Appends "write PROG_DST=0x11", "poll SIG_DONE mask=0xffff value=0x4", "done 0x0" or "command op=.. ..". */
void control_command_print(const struct control_command *command, GString *out);

/* Appends the name of an address in the windows above, NAME or NAME[i], or the address in hexadecimal. */
void host_register_print(uint64_t address, GString *out);
/* The address of NAME, NAME[i] or a number; false when there is no such register. */
bool host_register_find(const char *text, uint64_t *address);
/* The layout of what is written to a register whose fields are described here, else NULL. */
const struct isa_layout *host_register_layout(uint64_t address);
/* Packs such fields; the typed X_encode below are preferable where the register is known. FS_ERROR_RANGE as they. */
bool host_register_encode(const struct isa_layout *layout, const void *fields, uint64_t *value, GError **error);

/* Mover registers, offsets in AUX_CFG (§8.8). */
enum mover_offset {
    MOVER_COMMAND = 0x00,
    MOVER_WALKER = 0x10,
    MOVER_DIMENSION = 0x18,
    MOVER_AXIS = 0x20,
    MOVER_BOUND = 0x28,
    MOVER_INDEX = 0x30,
    MOVER_SEED = 0x38,
    MOVER_IMMEDIATE = 0x40,
    MOVER_ROWS = 0x50,
};

enum mover_mode {
    MOVER_COPY,
    MOVER_TRANSPOSE,
    MOVER_GATHER,
    MOVER_GENERATE,
    MOVER_FILL,
    MOVER_TRANSFORM,
};

struct mover_command {
    uint8_t mode;      /* 3 bits, enum mover_mode */
    uint8_t width;     /* 2 bits: element width 0 byte, 1 half, 2 word */
    uint8_t coalesce;  /* reg bit 11 */
    uint8_t burst_cap; /* 3 bits, reg bits 15:13 */
    uint8_t go;        /* reg bit 16 */
};

struct mover_walker {
    uint8_t walker;               /* 0 source, 1 destination; so below */
    uint64_t base;                /* 40 bits */
    uint8_t ndim;                 /* 0..6; 7 acts as 6 */
    uint8_t xform_id, xform_mode; /* 4 bits each; source only */
};

/* Held until a MOVER_AXIS write applies both. */
struct mover_dimension {
    uint8_t walker;
    uint8_t dimension; /* 3 bits */
    uint16_t count;    /* 0 acts as 1 */
    int32_t stride;    /* bytes */
};

struct mover_axis {
    uint8_t axis; /* 2 bits: 1 or 2, 0 and 3 none */
    int16_t step;
};

struct mover_bound {
    uint8_t walker;
    uint8_t axis; /* 0: axis 1, 1: axis 2 */
    int16_t start;
    uint16_t extent; /* 0: axis unused */
};

struct mover_index {
    uint64_t base; /* 40 bits */
    uint16_t count;
};

struct mover_rows {
    uint32_t pitch;
    uint16_t row_words; /* 0 acts as 65536 */
};

/* AUX_STAT (§8.8). */
struct mover_status {
    uint32_t done;          /* moves completed, 24 bits */
    uint16_t reads, writes; /* of the agent's ports */
    uint8_t fault;          /* 4 bits */
    uint8_t busy;
};

/* Interlink registers, offsets in AUX_CFG (§10.8). */
enum interlink_offset {
    INTERLINK_CONTROL = 0x80,
    INTERLINK_IDENTITY = 0x88,
    INTERLINK_DOORBELL = 0x90,
};

struct interlink_control {
    uint8_t enable, clear_doorbells, clear_faults;
};

struct interlink_identity {
    uint8_t mesh; /* 2 bits */
};

struct interlink_doorbell {
    uint8_t mesh; /* destination, 2 bits */
    uint8_t tag;
};

/* X_encode packs a register's fields, FS_ERROR_RANGE naming the one that does not fit; X_decode reads any bits. A
 * destination walker has no xform fields: encoding one with them is FS_ERROR_RANGE, decoding gives 0. */
#define HOST_REGISTERS(F)                                                                                              \
    F(mover_command)                                                                                                   \
    F(mover_walker)                                                                                                    \
    F(mover_dimension)                                                                                                 \
    F(mover_axis)                                                                                                      \
    F(mover_bound)                                                                                                     \
    F(mover_index)                                                                                                     \
    F(mover_rows)                                                                                                      \
    F(mover_status)                                                                                                    \
    F(interlink_control)                                                                                               \
    F(interlink_identity)                                                                                              \
    F(interlink_doorbell)
#define HOST_REGISTER_DECLARE(name)                                                                                    \
    bool name##_encode(const struct name *fields, uint64_t *value, GError **error);                                    \
    void name##_decode(uint64_t value, struct name *fields);
HOST_REGISTERS(HOST_REGISTER_DECLARE)
#undef HOST_REGISTER_DECLARE

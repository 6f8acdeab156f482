/* Register names, register fields and control-program commands; see host.h. */
#include "model/isa/host.h"

#include <inttypes.h>
#include <string.h>

#define ROW(type, member, low, width, kind) ISA_FIELD(type, member, #member, low, width, kind)

static const struct isa_field mover_command_fields[] = {
    ROW(mover_command, mode, 0, 3, FIELD_NUMBER),    ROW(mover_command, width, 3, 2, FIELD_NUMBER),
    ROW(mover_command, coalesce, 11, 1, FIELD_FLAG), ROW(mover_command, burst_cap, 13, 3, FIELD_NUMBER),
    ROW(mover_command, go, 16, 1, FIELD_FLAG),
};
static const struct isa_field mover_walker_fields[] = {
    ROW(mover_walker, walker, 0, 1, FIELD_NUMBER),      ROW(mover_walker, base, 4, 40, FIELD_HEX),
    ROW(mover_walker, ndim, 44, 3, FIELD_NUMBER),       ROW(mover_walker, xform_id, 47, 4, FIELD_NUMBER),
    ROW(mover_walker, xform_mode, 55, 4, FIELD_NUMBER),
};
static const struct isa_field mover_dimension_fields[] = {
    ROW(mover_dimension, walker, 0, 1, FIELD_NUMBER),
    ROW(mover_dimension, dimension, 1, 3, FIELD_NUMBER),
    ROW(mover_dimension, count, 4, 16, FIELD_NUMBER),
    ROW(mover_dimension, stride, 20, 32, FIELD_SIGNED),
};
static const struct isa_field mover_axis_fields[] = {
    ROW(mover_axis, axis, 0, 2, FIELD_NUMBER),
    ROW(mover_axis, step, 2, 16, FIELD_SIGNED),
};
static const struct isa_field mover_bound_fields[] = {
    ROW(mover_bound, walker, 0, 1, FIELD_NUMBER),
    ROW(mover_bound, axis, 1, 1, FIELD_NUMBER),
    ROW(mover_bound, start, 2, 16, FIELD_SIGNED),
    ROW(mover_bound, extent, 18, 16, FIELD_NUMBER),
};
static const struct isa_field mover_index_fields[] = {
    ROW(mover_index, base, 0, 40, FIELD_HEX),
    ROW(mover_index, count, 40, 16, FIELD_NUMBER),
};
static const struct isa_field mover_rows_fields[] = {
    ROW(mover_rows, pitch, 0, 32, FIELD_NUMBER),
    ROW(mover_rows, row_words, 32, 16, FIELD_NUMBER),
};
static const struct isa_field mover_status_fields[] = {
    ROW(mover_status, done, 40, 24, FIELD_NUMBER),  ROW(mover_status, reads, 24, 16, FIELD_NUMBER),
    ROW(mover_status, writes, 8, 16, FIELD_NUMBER), ROW(mover_status, fault, 4, 4, FIELD_NUMBER),
    ROW(mover_status, busy, 0, 1, FIELD_FLAG),
};
static const struct isa_field interlink_control_fields[] = {
    ROW(interlink_control, enable, 0, 1, FIELD_FLAG),
    ROW(interlink_control, clear_doorbells, 1, 1, FIELD_FLAG),
    ROW(interlink_control, clear_faults, 2, 1, FIELD_FLAG),
};
static const struct isa_field interlink_identity_fields[] = {
    ROW(interlink_identity, mesh, 0, 2, FIELD_NUMBER),
};
static const struct isa_field interlink_doorbell_fields[] = {
    ROW(interlink_doorbell, mesh, 0, 2, FIELD_NUMBER),
    ROW(interlink_doorbell, tag, 8, 8, FIELD_NUMBER),
};

/* A destination walker has no transform fields; nothing else is conditional. */
static bool accept(const struct isa_layout *layout, const void *fields, GError **error) {
    const struct mover_walker *walker = fields;
    if (layout->fields != mover_walker_fields || walker->walker == 0 ||
        (walker->xform_id == 0 && walker->xform_mode == 0))
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_RANGE,
                "mover_walker: fields xform_id = %u and xform_mode = %u have no bits in a destination walker",
                walker->xform_id, walker->xform_mode);
    return false;
}

bool host_register_encode(const struct isa_layout *layout, const void *fields, uint64_t *value, GError **error) {
    struct word256 packed;
    if (!accept(layout, fields, error) || !layout_encode(layout, fields, &packed, error))
        return false;
    *value = packed.w[0];
    return true;
}

#define HOST_REGISTER_DEFINE(name)                                                                                     \
    static const struct isa_layout name##_layout = ISA_LAYOUT(#name, name, name##_fields);                             \
    bool name##_encode(const struct name *fields, uint64_t *value, GError **error) {                                   \
        return host_register_encode(&name##_layout, fields, value, error);                                             \
    }                                                                                                                  \
    void name##_decode(uint64_t value, struct name *fields) {                                                          \
        *fields = (struct name){0};                                                                                    \
        layout_decode(&name##_layout, &(struct word256){{value}}, fields);                                             \
        if (!accept(&name##_layout, fields, NULL))                                                                     \
            layout_decode(&name##_layout, &(struct word256){{value & bit_mask(47)}}, fields);                          \
    }
HOST_REGISTERS(HOST_REGISTER_DEFINE)

/* Named registers of a mesh's windows. An address gets the first name that matches, so single registers stand before
 * the ranges around them. */
static const struct {
    const char *name;
    uint32_t address, count; /* count of 64-bit words; 0: a single register without index */
    const struct isa_layout *layout;
} host_registers[] = {
    {"CTRL", AGENT_CTRL, 0, NULL},
    {"STATUS", AGENT_STATUS, 0, NULL},
    {"CAPS", AGENT_CAPS, 0, NULL},
    {"IRQ_STAT", AGENT_IRQ_STAT, 0, NULL},
    {"IRQ_EN", AGENT_IRQ_EN, 0, NULL},
    {"PROG_DST", AGENT_PROG_DST, 0, NULL},
    {"PROG_LEN", AGENT_PROG_LEN, 0, NULL},
    {"PROG_KICK", AGENT_PROG_KICK, 0, NULL},
    {"PROG_STAT", AGENT_PROG_STAT, 0, NULL},
    {"PROG_CRED", AGENT_PROG_CRED, 0, NULL},
    {"PROG_BASE", AGENT_PROG_BASE, 0, NULL},
    {"SIG_DONE", AGENT_SIG_DONE, 0, NULL},
    {"AUX_STAT", AGENT_AUX_STAT, 0, NULL},
    {"AUX_STATW", AGENT_AUX_STATW, 16, NULL},
    {"TX_FLIT", AGENT_TX_FLIT, STAGE_FLIT_WORDS, NULL},
    {"TX_KICK", AGENT_TX_KICK, 0, NULL},
    {"TX_STATUS", AGENT_TX_STATUS, 0, NULL},
    {"RX_FLIT", AGENT_RX_FLIT, STAGE_FLIT_WORDS, NULL},
    {"RX_POP", AGENT_RX_POP, 0, NULL},
    {"RX_STATUS", AGENT_RX_STATUS, 0, NULL},
    {"MOVER_COMMAND", AGENT_AUX_CFG + MOVER_COMMAND, 0, &mover_command_layout},
    {"MOVER_WALKER", AGENT_AUX_CFG + MOVER_WALKER, 0, &mover_walker_layout},
    {"MOVER_DIMENSION", AGENT_AUX_CFG + MOVER_DIMENSION, 0, &mover_dimension_layout},
    {"MOVER_AXIS", AGENT_AUX_CFG + MOVER_AXIS, 0, &mover_axis_layout},
    {"MOVER_BOUND", AGENT_AUX_CFG + MOVER_BOUND, 0, &mover_bound_layout},
    {"MOVER_INDEX", AGENT_AUX_CFG + MOVER_INDEX, 0, &mover_index_layout},
    {"MOVER_SEED", AGENT_AUX_CFG + MOVER_SEED, 0, NULL},
    {"MOVER_IMMEDIATE", AGENT_AUX_CFG + MOVER_IMMEDIATE, 0, NULL},
    {"MOVER_ROWS", AGENT_AUX_CFG + MOVER_ROWS, 0, &mover_rows_layout},
    {"INTERLINK_CONTROL", AGENT_AUX_CFG + INTERLINK_CONTROL, 0, &interlink_control_layout},
    {"INTERLINK_IDENTITY", AGENT_AUX_CFG + INTERLINK_IDENTITY, 0, &interlink_identity_layout},
    {"INTERLINK_DOORBELL", AGENT_AUX_CFG + INTERLINK_DOORBELL, 0, &interlink_doorbell_layout},
    {"AUX_CFG", AGENT_AUX_CFG, 32, NULL},
    {"NODE_STATUS", AGENT_NODE_STATUS, 256, NULL},
    {"STAGE", AGENT_STAGE, (AGENT_WINDOW_BYTES - AGENT_STAGE) / 8, NULL},
    {"ENGINE", ENGINE_CONTROL, 0, NULL},
    {"ENGINE_INDEX", ENGINE_INDEX, 0, NULL},
    {"ENGINE_CODE", ENGINE_CODE, 0, NULL},
    {"ENGINE_POLLS", ENGINE_POLLS, 0, NULL},
    {"COMMAND", ENGINE_COMMANDS, CONTROL_PROGRAM_MAX *CONTROL_COMMAND_WORDS, NULL},
};

void host_register_print(uint64_t address, GString *out) {
    for (unsigned i = 0; i < G_N_ELEMENTS(host_registers); i++) {
        uint64_t base = host_registers[i].address, index = (address - base) / 8;
        if (address < base || address % 8 != 0)
            continue;
        if (host_registers[i].count == 0 && index == 0) {
            g_string_append(out, host_registers[i].name);
            return;
        }
        if (index < host_registers[i].count) {
            g_string_append_printf(out, "%s[%" PRIu64 "]", host_registers[i].name, index);
            return;
        }
    }
    g_string_append_printf(out, "0x%" PRIx64, address);
}

bool host_register_find(const char *text, uint64_t *address) {
    if (isa_number(text, address, NULL))
        return true;
    const char *bracket = strchr(text, '[');
    size_t length = bracket ? (size_t)(bracket - text) : strlen(text);
    uint64_t index = 0;
    if (bracket) {
        g_autofree char *inside = g_strdup(bracket + 1);
        size_t end = strlen(inside);
        if (end == 0 || inside[end - 1] != ']')
            return false;
        inside[end - 1] = '\0';
        if (!isa_number(inside, &index, NULL))
            return false;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(host_registers); i++) {
        bool same = strlen(host_registers[i].name) == length && strncmp(host_registers[i].name, text, length) == 0;
        if (same && (bracket ? index < host_registers[i].count : host_registers[i].count == 0)) {
            *address = host_registers[i].address + 8 * index;
            return true;
        }
    }
    return false;
}

const struct isa_layout *host_register_layout(uint64_t address) {
    for (unsigned i = 0; i < G_N_ELEMENTS(host_registers); i++)
        if (host_registers[i].address == address)
            return host_registers[i].layout;
    return NULL;
}

bool control_command_encode(const struct control_command *command, uint64_t words[static CONTROL_COMMAND_WORDS],
                            GError **error) {
    if (command->op > 15) {
        g_set_error(error, FS_ERROR, FS_ERROR_RANGE, "control command: field op = %u does not fit in 4 bits (0..15)",
                    command->op);
        return false;
    }
    words[0] = command->op;
    words[1] = command->address;
    words[2] = command->data;
    words[3] = command->mask;
    return true;
}

void control_command_decode(const uint64_t words[static CONTROL_COMMAND_WORDS], struct control_command *command) {
    *command = (struct control_command){.op = words[0] & 15, .address = words[1], .data = words[2], .mask = words[3]};
}

void control_command_print(const struct control_command *command, GString *out) {
    if (command->op == CONTROL_WR && command->mask == 0) {
        g_string_append(out, "write ");
        host_register_print(command->address, out);
        g_string_append_printf(out, "=0x%" PRIx64, command->data);
    } else if (command->op == CONTROL_POLL) {
        g_string_append(out, "poll ");
        host_register_print(command->address, out);
        g_string_append_printf(out, " mask=0x%" PRIx64 " value=0x%" PRIx64, command->mask, command->data);
    } else if (command->op == CONTROL_DONE && command->address == 0 && command->mask == 0) {
        g_string_append_printf(out, "done 0x%" PRIx64, command->data);
    } else {
        g_string_append_printf(out, "command op=%u address=0x%" PRIx64 " data=0x%" PRIx64 " mask=0x%" PRIx64,
                               command->op, command->address, command->data, command->mask);
    }
}

/* The control-program engine; see control.h. Cycle numbers in comments are those of noc-and-memory §5.8: f is the fetch
 * cycle of a command, g the data beat of the GO write. */
#include "memory/control.h"

enum {
    COMMAND_BYTES = 32,
    POLL_OVERHEAD = 5, /* cycles of a try beyond the configured interval */
};

void control_init(struct control *control, const struct machine *machine, struct dispatch *dispatch) {
    *control = (struct control){.dispatch = dispatch,
                                .room = machine->agent.commands,
                                .commands = g_new0(struct control_command, machine->agent.commands + 1),
                                .poll_interval = machine->agent.poll_interval};
}

void control_clear(struct control *control) {
    g_free(control->commands);
    *control = (struct control){0};
}

static void trace(struct control *control, const char *what, uint64_t a, uint64_t b, cycle_t now) {
    if (control->trace)
        control->trace->event(control->trace->self, what, a, b, now);
}

void control_write(struct control *control, uint32_t offset, uint64_t value, cycle_t now) {
    if (offset == ENGINE_CONTROL) {
        if ((value & 1) && !control->busy && !control->go_pending) {
            control->go_pending = true;
            control->go_at = now + 2;
        }
        return;
    }
    unsigned n = (offset - ENGINE_COMMANDS) / COMMAND_BYTES;
    if (offset < ENGINE_COMMANDS || n >= control->room)
        return;
    struct control_command *command = &control->commands[n];
    switch (offset % COMMAND_BYTES / 8) {
    case 0:
        command->op = value & 15;
        break;
    case 1:
        command->address = value;
        break;
    case 2:
        command->data = value;
        break;
    default:
        command->mask = value;
        break;
    }
}

uint64_t control_read(const struct control *control, uint32_t offset) {
    switch (offset) {
    case ENGINE_CONTROL:
        return control->busy | control->done << 1 | control->error << 2;
    case ENGINE_INDEX:
        return control->index;
    case ENGINE_CODE:
        return control->code;
    case ENGINE_POLLS:
        return control->polls;
    default:
        return 0;
    }
}

static void go(struct control *control, cycle_t now) {
    control->go_pending = false;
    control->busy = true;
    control->done = control->error = false;
    control->polls = 0;
    control->index = 0;
    control->state = ENGINE_FETCH;
    control->at = now;
    trace(control, "status", control->code, control->polls, now);
}

static void stop(struct control *control, bool error, cycle_t now) {
    control->busy = false;
    control->done = control->ended = true;
    control->error = error;
    control->state = ENGINE_IDLE;
    trace(control, "status", control->code, control->polls, now + 1);
}

static void fetch(struct control *control, cycle_t now) {
    const struct control_command *command = &control->commands[control->index];
    trace(control, "fetch", control->index, command->op, now);
    switch (command->op) {
    case CONTROL_WR:
        control->state = ENGINE_WRITE_ADDRESS;
        control->at = now + 2;
        break;
    case CONTROL_POLL:
        control->state = ENGINE_READ_ADDRESS;
        control->at = now + 2;
        break;
    case CONTROL_DONE:
        control->code = command->data;
        stop(control, false, now);
        break;
    default:
        stop(control, true, now);
        break;
    }
}

static void next_command(struct control *control, cycle_t now) {
    control->index++;
    control->state = ENGINE_FETCH;
    control->at = now + 1;
}

static void compare(struct control *control, cycle_t now) {
    const struct control_command *command = &control->commands[control->index];
    trace(control, "read data", control->value, 0, now);
    control->polls++;
    if ((control->value & command->mask) == command->data) {
        next_command(control, now);
        return;
    }
    control->state = ENGINE_READ_ADDRESS;
    control->at = control->poll_address + control->poll_interval + POLL_OVERHEAD;
}

void control_step(struct control *control, cycle_t now) {
    if (control->go_pending && control->go_at == now)
        go(control, now);
    if (control->state == ENGINE_IDLE || control->at != now)
        return;
    const struct control_command *command = &control->commands[control->index];
    switch (control->state) {
    case ENGINE_FETCH:
        fetch(control, now);
        break;
    case ENGINE_WRITE_ADDRESS: /* f+2 */
        trace(control, "write address", command->address, 0, now);
        control->state = ENGINE_WRITE_DATA;
        control->at = now + 1;
        break;
    case ENGINE_WRITE_DATA: /* f+3 */
        trace(control, "write data", command->data, 0, now);
        dispatch_write(control->dispatch, command->address, command->data, now);
        control->state = ENGINE_WRITE_RESPONSE;
        control->at = now + 1;
        break;
    case ENGINE_WRITE_RESPONSE: /* f+4 */
        trace(control, "write response", 0, 0, now);
        next_command(control, now);
        break;
    case ENGINE_READ_ADDRESS: /* f+2, and again after every try */
        trace(control, "read address", command->address, 0, now);
        control->poll_address = now;
        control->state = ENGINE_READ_VALUE;
        control->at = now + 1;
        break;
    case ENGINE_READ_VALUE: /* the register's value in the cycle after the address */
        control->value = dispatch_read(control->dispatch, command->address, now);
        control->state = ENGINE_READ_DATA;
        control->at = now + 1;
        break;
    case ENGINE_READ_DATA: /* f+4 */
        compare(control, now);
        break;
    case ENGINE_IDLE:
        break;
    }
}

/* Unit types from shared objects. A machine names the files in `plugins` and the types in `tokens`; the system that is
 * built from it loads the files and asks them for their types.
 *
 * A plug-in is compiled against these headers and exports one function:
 *
 *     bool flitsim_plugin_register(struct plugin_set *set, unsigned version) {
 *         return version == PLUGIN_VERSION && plugin_add_unit_type(set, &my_type);
 *     }
 */
#pragma once

#include <stdbool.h>

#include "model/error.h"
#include "model/machine.h"
#include "units/unit.h"

enum {
    PLUGIN_VERSION = 1, /* of struct unit_type and what it is handed; a plug-in made for another one refuses */
};

#define PLUGIN_ENTRY "flitsim_plugin_register"

struct plugin_set;
typedef bool plugin_register(struct plugin_set *set, unsigned version);

/* Called by a plug-in: the type must stay where it is. False when it lacks a function or its name is taken. */
bool plugin_add_unit_type(struct plugin_set *set, const struct unit_type *type);

/* Loads the machine's plug-ins. A file that is not where the machine says is looked for by its name in the folder
 * FLITSIM_PLUGINS, in plugins beside the executable or beside its folder, and in ../lib/flitsim/plugins. NULL with
 * FS_ERROR_INPUT `plugins: FILE …, expected …`. */
struct plugin_set *plugin_set_load(const struct machine *machine, GError **error);
void plugin_set_free(struct plugin_set *set);

/* A built-in type or one of the set's (NULL: none); NULL when there is no such type. */
const struct unit_type *plugin_find_type(const struct plugin_set *set, const char *name);

/* A plug-in whose unit type cannot be stepped. */
#include "units/plugin.h"

bool flitsim_plugin_register(struct plugin_set *set, unsigned version);

static const struct unit_type incomplete = {.name = "incomplete"};

bool flitsim_plugin_register(struct plugin_set *set, unsigned version) {
    (void)version;
    return plugin_add_unit_type(set, &incomplete);
}

/* A plug-in for another version of the simulator. */
#include "units/plugin.h"

bool flitsim_plugin_register(struct plugin_set *set, unsigned version);

bool flitsim_plugin_register(struct plugin_set *set, unsigned version) {
    (void)set;
    return version == PLUGIN_VERSION + 1;
}

/* Configuration files: finding them, and reading a machine whole. Messages are those of json_source.h. */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "model/json_source.h"
#include "model/machine.h"

/* The file that `name` means: itself when such a file exists or it is written as a path (holds '/' or ends in ".json"),
 * else NAME.json in `folder` ("machines", "workloads", "sweeps") of the first place that has it: the folder named by
 * FLITSIM_CONFIGS, configs beside the executable, ../share/flitsim/configs, configs of the source tree. NULL and an
 * error that names the nearest shipped one when there is none. To be freed. */
char *config_find(const char *folder, const char *name, GError **error);

/* Whether PATH=VALUE is meant for the workload: its PATH begins with "workload.". All others are the machine's. */
bool config_set_is_workload(const char *assignment);

/* A shipped file by its full name in `folder` ("programs"), or NULL. To be freed. */
char *config_find_file(const char *folder, const char *file);

/* A sample data file of that name among the shipped data sets, or NULL. To be freed. */
char *config_find_data(const char *name);

/* The folder of the vector kernels' texts: "kernels" of the first place that has one, else that of the source tree. To
 * be freed. */
char *config_find_kernels(void);

/* The machine of a file or shipped name, with `sets` (NULL, or NULL-terminated PATH=VALUE) over it, wholly checked.
 * Those for the workload are passed over, but counted, so that messages give each its number on the command line.
 * `mesh_WxH` is a bare mesh of any size, with or without a file. On failure there is nothing to clear. */
bool config_load_machine(struct machine *machine, const char *name, char *const *sets, GError **error);

/* The source behind a file, a shipped name or mesh_WxH, without reading what it says. */
bool config_open_machine(struct json_source *source, const char *name, GError **error);

/* The same from an open source. */
bool config_read_machine(struct machine *machine, const struct json_source *source, GError **error);

/* The machine as a file with every key given and every unit listed with its port: read again, it is the same machine.
 * To be freed. */
char *config_machine_json(const struct machine *machine);
json_t *config_machine_tree(const struct machine *machine);

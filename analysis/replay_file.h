/* Recordings of the reference machine as files: which kind a file is, its entries, and how one is replayed. */
#pragma once

#include <stdbool.h>

#include "analysis/replay.h"

struct replay_file;

/* Reads a file of the form of the recordings: an object with a "description" and a list of entries. FS_ERROR_INPUT when
 * it is none. */
struct replay_file *replay_file_open(const char *path, GError **error);
void replay_file_close(struct replay_file *file);
unsigned replay_file_count(const struct replay_file *file);
/* "GEMM", "traffic", ...: what the entries are. */
const char *replay_file_kind(const struct replay_file *file);
/* A line that names entry `index`, to be freed. */
char *replay_file_label(const struct replay_file *file, unsigned index);
/* Replays one entry. False with an error when it cannot be read; rows that differ are no error. */
bool replay_file_run(const struct replay_file *file, unsigned index, struct replay_result *result, GError **error);

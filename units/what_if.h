/* Options that make a machine other than the hardware: a result has to say which of them were on. */
#pragma once

#include <glib.h>

#include "model/machine.h"

/* Names of the options that are on, "cluster.rendezvous" …, NULL-terminated, for g_strfreev; empty for the hardware. */
char **what_if_active(const struct machine *machine);

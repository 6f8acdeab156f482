/* Error domain; see error.h. */
#include "model/error.h"

G_DEFINE_QUARK(flitsim_error, fs_error)

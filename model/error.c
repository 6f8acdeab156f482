/* Error domain; see error.h. */
#include "model/error.h"

#include <string.h>

G_DEFINE_QUARK(flitsim_error, fs_error)

const char *fs_error_reason(const GError *cause) {
    const char *colon = strrchr(cause->message, ':');
    return colon && colon[1] == ' ' ? colon + 2 : cause->message;
}

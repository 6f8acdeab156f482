/* The one error domain of the simulator. Codes are coarse on purpose: the sentence carries the detail, the code says
 * only who is at fault, which the command line turns into its exit status. */
#pragma once

#include <glib.h>

enum fs_error {
    FS_ERROR_INPUT,    /* a file, key, value or command line is wrong: exit status 2 */
    FS_ERROR_RANGE,    /* a value does not fit the field it is meant for: exit status 2 */
    FS_ERROR_IO,       /* the system refused a read or write: exit status 2 */
    FS_ERROR_INTERNAL, /* an invariant of the simulator broke: exit status 1 */
};

#define FS_ERROR fs_error_quark()
GQuark fs_error_quark(void);

/* What the system says was in the way ("No such file or directory"), out of the sentence a file function made of it,
 * which names the file once more, or a temporary one that nobody has heard of. */
const char *fs_error_reason(const GError *cause);

/* A shared object that is no plug-in. */
extern const int plugin_without_entry;
const int plugin_without_entry = 1;

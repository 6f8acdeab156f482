/* What the parts of a report page share: escaped text, numbers for people, tables, colours. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>
#include <jansson.h>

enum {
    HEAT_BINS = 10,     /* bin 0: nothing at all; 1..9 nine steps up to the top of the scale */
    CAUSE_COLOURS = 12, /* classes c0 (idle) .. c11 */
};

/* Reading documents: what is not there is 0, "" or NULL. */
double report_number(const json_t *object, const char *key);
int64_t report_count(const json_t *object, const char *key);
const char *report_string(const json_t *object, const char *key);
/* By dotted path, "latency.mem_rd_resp.mean". */
json_t *report_at(const json_t *object, const char *path);

/* Appends, with the characters that mean something in HTML escaped. NULL appends nothing. */
void html_text(GString *out, const char *text);
/* 12345678 as "12,345,678". To be freed. */
char *html_count(int64_t value);
/* A scalar of any kind as text, numbers to six digits. To be freed. */
char *html_value(const json_t *value);
/* Appends "12.3 %". */
void html_percent(GString *out, double share);

void html_section(GString *out, const char *id, const char *title, const char *note);
void html_section_end(GString *out);

/* Column heads, NULL-terminated; a head that opens with '>' is a column of numbers. */
void html_table(GString *out, const char *const *heads);
void html_cell(GString *out, bool number, const char *text);
void html_cell_count(GString *out, int64_t value);
void html_table_end(GString *out);

/* The bin of a value on a scale of 0..top. */
unsigned heat_bin(double value, double top);
/* The least of 1, 2, 5 times a power of ten that is no smaller; 1e-3 of nothing. */
double heat_top(double greatest);
/* Appends the scale's legend. */
void heat_legend(GString *out, const char *low, const char *high);

/* The page around a body. The title is escaped. */
char *html_page(const char *title, const char *body);
extern const char report_style[];

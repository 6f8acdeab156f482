/* Tensors and .npy files; see tensor.h. The header of a .npy file is a Python dictionary literal with exactly the keys
 * descr, fortran_order and shape; the reader takes any order and spacing that Python would print. */
#include "workloads/tensor.h"

#include "model/numeric/fp16.h"

#include <math.h>
#include <string.h>

enum {
    MAGIC_BYTES = 6,
    HEADER_ALIGN = 64,
};

static const char MAGIC[] = "\x93NUMPY";

/* Largest integer below which a double holds every integer. */
#define EXACT_LIMIT (UINT64_C(1) << 53)

struct tensor *tensor_new(unsigned ndim, const size_t shape[]) {
    g_assert(ndim <= TENSOR_DIMS_MAX);
    struct tensor *tensor = g_new0(struct tensor, 1);
    tensor->ndim = ndim;
    tensor->count = 1;
    for (unsigned axis = 0; axis < ndim; axis++) {
        tensor->shape[axis] = shape[axis];
        tensor->count *= shape[axis];
    }
    tensor->data = g_new0(double, MAX(tensor->count, 1));
    return tensor;
}

struct tensor *tensor_new_2d(size_t rows, size_t columns) {
    return tensor_new(2, (size_t[]){rows, columns});
}

void tensor_free(struct tensor *tensor) {
    if (!tensor)
        return;
    g_free(tensor->data);
    g_free(tensor);
}

uint16_t *tensor_to_fp16(const struct tensor *tensor) {
    uint16_t *halves = g_new(uint16_t, MAX(tensor->count, 1));
    for (size_t i = 0; i < tensor->count; i++)
        halves[i] = fp16_from_double(tensor->data[i]);
    return halves;
}

struct tensor *tensor_from_fp16(unsigned ndim, const size_t shape[], const uint16_t *halves) {
    struct tensor *tensor = tensor_new(ndim, shape);
    for (size_t i = 0; i < tensor->count; i++)
        tensor->data[i] = fp16_to_double(halves[i]);
    return tensor;
}

void tensor_round_fp16(struct tensor *tensor) {
    for (size_t i = 0; i < tensor->count; i++)
        tensor->data[i] = fp16_to_double(fp16_from_double(tensor->data[i]));
}

/* The reader's place in a file; every message names the byte it stands at. */
struct reader {
    const char *name;
    const uint8_t *bytes;
    size_t size, at;
    size_t end; /* one past the header */
    GError **error;
};

static bool complain(struct reader *in, size_t at, const char *what, const char *expected) {
    g_set_error(in->error, FS_ERROR, FS_ERROR_INPUT, "%s:1:%zu: npy: %s, expected %s", in->name, at + 1, what,
                expected);
    return false;
}

struct element_type {
    const char *code; /* kind and size as in descr */
    unsigned bytes;
    double (*decode)(uint64_t bits);
};

static double decode_f2(uint64_t bits) {
    return fp16_to_double((uint16_t)bits);
}

static double decode_f4(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static double decode_f8(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double decode_unsigned(uint64_t bits) {
    return bits > EXACT_LIMIT ? NAN : (double)bits;
}

static double decode_signed(int64_t value) {
    return value > (int64_t)EXACT_LIMIT || value < -(int64_t)EXACT_LIMIT ? NAN : (double)value;
}

static double decode_i1(uint64_t bits) {
    return (int8_t)bits;
}

static double decode_i2(uint64_t bits) {
    return (int16_t)bits;
}

static double decode_i4(uint64_t bits) {
    return (int32_t)bits;
}

static double decode_i8(uint64_t bits) {
    return decode_signed((int64_t)bits);
}

static const struct element_type ELEMENT_TYPES[] = {
    {"f2", 2, decode_f2},       {"f4", 4, decode_f4},       {"f8", 8, decode_f8},       {"i1", 1, decode_i1},
    {"i2", 2, decode_i2},       {"i4", 4, decode_i4},       {"i8", 8, decode_i8},       {"u1", 1, decode_unsigned},
    {"u2", 2, decode_unsigned}, {"u4", 4, decode_unsigned}, {"u8", 8, decode_unsigned}, {"b1", 1, decode_unsigned},
};

struct header {
    const struct element_type *type;
    bool big_endian;
    unsigned ndim;
    size_t shape[TENSOR_DIMS_MAX];
    bool seen_descr, seen_order, seen_shape;
};

static void skip_blanks(struct reader *in) {
    while (in->at < in->end && g_ascii_isspace(in->bytes[in->at]))
        in->at++;
}

static bool next_is(struct reader *in, char wanted) {
    skip_blanks(in);
    return in->at < in->end && in->bytes[in->at] == (uint8_t)wanted;
}

static bool take(struct reader *in, char wanted) {
    if (!next_is(in, wanted))
        return false;
    in->at++;
    return true;
}

static bool need(struct reader *in, char wanted) {
    char expected[] = {'\'', wanted, '\'', '\0'};
    return take(in, wanted) ||
           complain(in, in->at, in->at < in->end ? "unexpected character" : "header ends early", expected);
}

static bool take_string(struct reader *in, char *text, size_t room) {
    skip_blanks(in);
    size_t from = in->at, length = 0;
    char quote = in->at < in->end ? (char)in->bytes[in->at] : '\0';
    if (quote != '\'' && quote != '"')
        return complain(in, from, "no string", "a quoted string");
    for (in->at++; in->at < in->end && in->bytes[in->at] != (uint8_t)quote; in->at++) {
        if (length + 1 >= room)
            return complain(in, from, "string too long", "a key or an element type");
        text[length++] = (char)in->bytes[in->at];
    }
    text[length] = '\0';
    return need(in, quote);
}

static bool take_descr(struct reader *in, struct header *header) {
    static const char EXPECTED[] = "f2, f4, f8, i1..i8, u1..u8 or b1 after one of < > | =";
    char text[8];
    skip_blanks(in);
    size_t from = in->at;
    if (in->at < in->end && in->bytes[in->at] == '[')
        return complain(in, from, "a structured element type", EXPECTED);
    if (!take_string(in, text, sizeof text))
        return false;
    if (!text[0] || !strchr("<>|=", text[0]))
        return complain(in, from, "element type without byte order", EXPECTED);
    header->big_endian = text[0] == '>';
    for (size_t i = 0; i < G_N_ELEMENTS(ELEMENT_TYPES); i++)
        if (strcmp(text + 1, ELEMENT_TYPES[i].code) == 0)
            header->type = &ELEMENT_TYPES[i];
    return header->type || complain(in, from, "element type not supported", EXPECTED);
}

static bool take_word(struct reader *in, const char *word) {
    size_t length = strlen(word);
    skip_blanks(in);
    if (in->end - in->at < length || memcmp(in->bytes + in->at, word, length) != 0)
        return false;
    in->at += length;
    return true;
}

static bool take_order(struct reader *in) {
    skip_blanks(in);
    size_t from = in->at;
    if (take_word(in, "True"))
        return complain(in, from, "the array is stored in Fortran (column-major) order",
                        "C order, fortran_order False");
    return take_word(in, "False") || complain(in, from, "fortran_order is no truth value", "True or False");
}

static bool take_length(struct reader *in, size_t *length) {
    skip_blanks(in);
    size_t from = in->at, value = 0;
    while (in->at < in->end && g_ascii_isdigit(in->bytes[in->at])) {
        unsigned digit = in->bytes[in->at++] - '0';
        if (value > (SIZE_MAX - digit) / 10)
            return complain(in, from, "axis length out of range", "a length that fits memory");
        value = 10 * value + digit;
    }
    *length = value;
    return in->at > from || complain(in, from, "no axis length", "a whole number of elements");
}

static bool take_shape(struct reader *in, struct header *header) {
    if (!need(in, '('))
        return false;
    header->ndim = 0;
    while (!next_is(in, ')')) {
        if (header->ndim == TENSOR_DIMS_MAX)
            return complain(in, in->at, "too many axes", "at most 8");
        if (!take_length(in, &header->shape[header->ndim++]))
            return false;
        if (!take(in, ','))
            break;
    }
    return need(in, ')');
}

static bool take_item(struct reader *in, struct header *header) {
    static const char KEYS[] = "descr, fortran_order and shape, each once";
    char key[16];
    skip_blanks(in);
    size_t from = in->at;
    if (!take_string(in, key, sizeof key) || !need(in, ':'))
        return false;
    bool *seen = strcmp(key, "descr") == 0           ? &header->seen_descr
                 : strcmp(key, "fortran_order") == 0 ? &header->seen_order
                 : strcmp(key, "shape") == 0         ? &header->seen_shape
                                                     : NULL;
    if (!seen || *seen)
        return complain(in, from, seen ? "key given twice" : "unknown key", KEYS);
    *seen = true;
    return seen == &header->seen_descr   ? take_descr(in, header)
           : seen == &header->seen_order ? take_order(in)
                                         : take_shape(in, header);
}

static bool take_header(struct reader *in, struct header *header) {
    if (!need(in, '{'))
        return false;
    while (!next_is(in, '}')) {
        if (!take_item(in, header))
            return false;
        if (!take(in, ','))
            break;
    }
    if (!need(in, '}'))
        return false;
    skip_blanks(in);
    if (in->at < in->end)
        return complain(in, in->at, "characters after the header's dictionary", "blanks and a line end");
    if (!header->seen_descr || !header->seen_order || !header->seen_shape)
        return complain(in, in->at, "a key is missing", "descr, fortran_order and shape");
    return true;
}

/* Leaves the reader at the header's first byte. */
static bool take_preamble(struct reader *in) {
    if (in->size < MAGIC_BYTES || memcmp(in->bytes, MAGIC, MAGIC_BYTES) != 0)
        return complain(in, 0, "not a .npy file", "it to begin with \\x93NUMPY");
    in->at = MAGIC_BYTES;
    if (in->size < MAGIC_BYTES + 2)
        return complain(in, in->size, "file ends before its version", "1.0 or 2.0");
    unsigned major = in->bytes[in->at], minor = in->bytes[in->at + 1], width = major == 1 ? 2 : 4;
    if ((major != 1 && major != 2) || minor != 0)
        return complain(in, in->at, "unknown format version", "1.0 or 2.0");
    in->at += 2;
    if (in->size - in->at < width)
        return complain(in, in->size, "file ends before its header length", "2 bytes (1.0) or 4 bytes (2.0)");
    size_t length = 0;
    for (unsigned i = 0; i < width; i++)
        length |= (size_t)in->bytes[in->at + i] << 8 * i;
    in->at += width;
    if (length > in->size - in->at)
        return complain(in, in->size, "file ends inside its header", "as many bytes as the header length says");
    in->end = in->at + length;
    return true;
}

/* Elements the data part holds, when that is what the shape asks for. */
static bool check_size(struct reader *in, const struct header *header, size_t *count) {
    size_t bytes = header->type->bytes, available = in->size - in->end;
    *count = 1;
    for (unsigned axis = 0; axis < header->ndim; axis++)
        if (header->shape[axis] == 0)
            *count = 0;
    for (unsigned axis = 0; *count && axis < header->ndim; axis++) {
        if (header->shape[axis] > SIZE_MAX / sizeof(double) / *count)
            return complain(in, in->end, "the shape exceeds memory", "fewer elements");
        *count *= header->shape[axis];
    }
    if (*count > available / bytes)
        return complain(in, in->size, "file ends inside its data", "every element of the shape");
    if (available != *count * bytes)
        return complain(in, in->end + *count * bytes, "bytes after the last element", "the end of the file");
    return true;
}

static uint64_t element_bits(const uint8_t *at, unsigned bytes, bool big_endian) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < bytes; i++)
        bits |= (uint64_t)at[big_endian ? bytes - 1 - i : i] << 8 * i;
    return bits;
}

struct tensor *npy_parse(const char *name, const void *bytes, size_t size, GError **error) {
    struct reader in = {.name = name, .bytes = bytes, .size = size, .error = error};
    struct header header = {0};
    size_t count;
    if (!take_preamble(&in) || !take_header(&in, &header) || !check_size(&in, &header, &count))
        return NULL;
    g_autoptr(tensor_ptr) tensor = tensor_new(header.ndim, header.shape);
    bool integer = header.type->code[0] != 'f';
    for (size_t i = 0; i < count; i++) {
        size_t at = in.end + i * header.type->bytes;
        tensor->data[i] = header.type->decode(element_bits(in.bytes + at, header.type->bytes, header.big_endian));
        if (integer && isnan(tensor->data[i])) {
            complain(&in, at, "integer too large for a double", "magnitude up to 2^53");
            return NULL;
        }
    }
    return g_steal_pointer(&tensor);
}

struct tensor *npy_read(const char *path, GError **error) {
    g_autoptr(GError) failure = NULL;
    g_autofree char *bytes = NULL;
    gsize size;
    if (!g_file_get_contents(path, &bytes, &size, &failure)) {
        g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: npy: can't be opened: %s, expected a readable file", path,
                    fs_error_reason(failure));
        return NULL;
    }
    return npy_parse(path, bytes, size, error);
}

static uint64_t encode_f2(double value) {
    return fp16_from_double(value);
}

static uint64_t encode_f4(double value) {
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static uint64_t encode_f8(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static const struct {
    const char *descr;
    unsigned bytes;
    uint64_t (*encode)(double value);
} WRITTEN_TYPES[] = {
    [NPY_FLOAT16] = {"<f2", 2, encode_f2},
    [NPY_FLOAT32] = {"<f4", 4, encode_f4},
    [NPY_FLOAT64] = {"<f8", 8, encode_f8},
};

/* Preamble and header, padded so that the data begins on a multiple of 64 bytes. */
static GByteArray *written_header(const struct tensor *tensor, const char *descr) {
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (unsigned axis = 0; axis < tensor->ndim; axis++)
        g_string_append_printf(text,
                               axis + 1 < tensor->ndim ? "%zu, "
                               : tensor->ndim == 1     ? "%zu,"
                                                       : "%zu",
                               tensor->shape[axis]);
    g_string_append(text, "), }");
    while ((MAGIC_BYTES + 4 + text->len + 1) % HEADER_ALIGN)
        g_string_append_c(text, ' ');
    g_string_append_c(text, '\n');
    GByteArray *out = g_byte_array_new();
    const uint8_t version[] = {1, 0, (uint8_t)text->len, (uint8_t)(text->len >> 8)};
    g_byte_array_append(out, (const uint8_t *)MAGIC, MAGIC_BYTES);
    g_byte_array_append(out, version, sizeof version);
    g_byte_array_append(out, (const uint8_t *)text->str, (guint)text->len);
    return out;
}

bool npy_write(const struct tensor *tensor, const char *path, enum npy_type type, GError **error) {
    unsigned bytes = WRITTEN_TYPES[type].bytes;
    g_autoptr(GByteArray) out = written_header(tensor, WRITTEN_TYPES[type].descr);
    for (size_t i = 0; i < tensor->count; i++) {
        uint64_t bits = WRITTEN_TYPES[type].encode(tensor->data[i]);
        uint8_t raw[8];
        for (unsigned b = 0; b < bytes; b++)
            raw[b] = (uint8_t)(bits >> 8 * b);
        g_byte_array_append(out, raw, bytes);
    }
    g_autoptr(GError) failure = NULL;
    if (g_file_set_contents(path, (const char *)out->data, (gssize)out->len, &failure))
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: npy: can't be written: %s, expected a writable file", path,
                fs_error_reason(failure));
    return false;
}

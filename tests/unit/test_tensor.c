/* Tensors and .npy files: values survive, and no damaged file gets past the reader. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "model/numeric/fp16.h"
#include "workloads/tensor.h"

static char *scratch_file(void) {
    char *path = NULL;
    int fd = g_file_open_tmp("flitsim-XXXXXX.npy", &path, NULL);
    g_assert_cmpint(fd, >=, 0);
    g_close(fd, NULL);
    return path;
}

static void survives(enum npy_type type, unsigned ndim, const size_t shape[]) {
    g_autofree char *path = scratch_file();
    g_autoptr(GError) error = NULL;
    g_autoptr(tensor_ptr) out = tensor_new(ndim, shape);
    for (size_t i = 0; i < out->count; i++)
        out->data[i] = ((double)i - 3) / 8;
    g_assert_true(npy_write(out, path, type, &error));
    g_autoptr(tensor_ptr) in = npy_read(path, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(in->ndim, ==, ndim);
    for (unsigned axis = 0; axis < ndim; axis++)
        g_assert_cmpuint(in->shape[axis], ==, shape[axis]);
    g_assert_cmpmem(in->data, in->count * sizeof(double), out->data, out->count * sizeof(double));
    g_unlink(path);
}

static void round_trip(void) {
    for (int type = NPY_FLOAT16; type <= NPY_FLOAT64; type++) {
        survives(type, 0, NULL);
        survives(type, 1, (size_t[]){7});
        survives(type, 2, (size_t[]){5, 9});
        survives(type, 3, (size_t[]){2, 3, 4});
        survives(type, 2, (size_t[]){0, 4});
    }
}

static void fp16_view(void) {
    g_autoptr(tensor_ptr) t = tensor_new_2d(1, 4);
    memcpy(t->data, (double[]){1.0, 1.0 + 0x1p-11, -0x1p-25, 1e9}, 4 * sizeof(double));
    g_autofree uint16_t *halves = tensor_to_fp16(t);
    g_assert_cmphex(halves[0], ==, 0x3c00);
    g_assert_cmphex(halves[1], ==, 0x3c00);
    g_assert_cmphex(halves[2], ==, 0x8000);
    g_assert_cmphex(halves[3], ==, FP16_INFINITY);
    tensor_round_fp16(t);
    g_autoptr(tensor_ptr) again = tensor_from_fp16(2, t->shape, halves);
    g_assert_cmpmem(t->data, 4 * sizeof(double), again->data, 4 * sizeof(double));
}

/* A file of `version` with this header text and data. */
static GByteArray *made_file(unsigned version, const char *header, const void *data, unsigned size) {
    GByteArray *file = g_byte_array_new();
    size_t length = strlen(header);
    uint8_t preamble[] = {0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)version, 0, (uint8_t)length, (uint8_t)(length >> 8),
                          0,    0};
    g_byte_array_append(file, preamble, version == 1 ? 10 : 12);
    g_byte_array_append(file, (const uint8_t *)header, (guint)length);
    g_byte_array_append(file, data, size);
    return file;
}

static void types(void) {
    static const struct {
        unsigned version;
        const char *header;
        const char *data;
        unsigned size;
        double first, second;
    } cases[] = {
        {1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n", "\xfe\xff\xff\xff\x05\0\0\0", 8, -2, 5},
        {2, "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }\n", "\xff\xfe\x01\0", 4, -2, 256},
        {1, "{\"shape\":(1,2),\"descr\":'|u1',\"fortran_order\":False}", "\xff\x07", 2, 255, 7},
        {1, "{'descr': '>f2', 'fortran_order': False, 'shape': (2,)}", "\x3c\0\xc0\0", 4, 1, -2},
        {1, "{'descr': '>f8', 'fortran_order': False, 'shape': (2,)}", "\x3f\xf0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 16, 1,
         -2},
        {1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,)}",
         "\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\x20\0", 16, -1, 0x1p53},
        {1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", "\0\1", 2, 0, 1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GByteArray) file = made_file(cases[i].version, cases[i].header, cases[i].data, cases[i].size);
        g_autoptr(tensor_ptr) t = npy_parse("t.npy", file->data, file->len, &error);
        g_assert_no_error(error);
        g_assert_cmpfloat(t->data[0], ==, cases[i].first);
        g_assert_cmpfloat(t->data[1], ==, cases[i].second);
    }
}

static void refusals(void) {
    static const struct {
        const char *header, *message;
    } cases[] = {
        {"{'descr': '<f2', 'fortran_order': True, 'shape': (2,)}",
         "t.npy:1:45: npy: the array is stored in Fortran (column-major) order, expected C order, fortran_order False"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", "t.npy:1:21: npy: element type not supported, *"},
        {"{'descr': [('a', '<f2')], 'fortran_order': False, 'shape': (2,)}",
         "t.npy:1:21: npy: a structured element type, *"},
        {"{'descr': '<f2', 'fortran_order': False}", "t.npy:1:51: npy: a key is missing, *"},
        {"{'descr': '<f2', 'descr': '<f2', 'shape': (2,)}", "t.npy:1:28: npy: key given twice, *"},
        {"{'descr': '<f2', 'shapes': (2,)}", "t.npy:1:28: npy: unknown key, *"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (2,", "t.npy:1:64: npy: * expected *"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (-2,)}", "t.npy:1:62: npy: no axis length, *"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (99999999999999999999,)}",
         "t.npy:1:62: npy: axis length out of range, *"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (4294967296,4294967296,2)}",
         "t.npy:1:*: npy: the shape exceeds memory, *"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (3,)}", "t.npy:1:70: npy: file ends inside its data, *"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (1,)}", "t.npy:1:68: npy: bytes after the last element, *"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (2,)} x", "t.npy:1:67: npy: characters after *"},
        {"", "t.npy:1:11: npy: header ends early, expected '{'"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GByteArray) file = made_file(1, cases[i].header, "\0\0\0\0", 4);
        g_assert_null(npy_parse("t.npy", file->data, file->len, &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
        if (!g_pattern_match_simple(cases[i].message, error->message))
            g_error("case %zu: got \"%s\", expected \"%s\"", i, error->message, cases[i].message);
    }
}

/* Every cut and every one-byte change of a good file is read or refused, never worse. */
static void damage(void) {
    const char *header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n";
    g_autoptr(GByteArray) file = made_file(1, header, "\0\0\x80\x3f\0\0\0\x40", 8);
    for (guint cut = 0; cut < file->len; cut++) {
        g_autoptr(GError) error = NULL;
        g_autofree void *exact = g_memdup2(file->data, cut); /* so that a sanitizer sees a read past the end */
        g_assert_null(npy_parse("t.npy", exact, cut, &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
        g_assert_null(strchr(error->message, '\n'));
    }
    for (guint at = 0; at < file->len; at++) {
        for (unsigned value = 0; value < 256; value += 3) {
            g_autoptr(GError) error = NULL;
            g_autofree uint8_t *copy = g_memdup2(file->data, file->len);
            copy[at] = (uint8_t)value;
            g_autoptr(tensor_ptr) t = npy_parse("t.npy", copy, file->len, &error);
            g_assert_true(!t == !!error);
        }
    }
}

static void digits(void) {
    g_autoptr(GError) error = NULL;
    g_autoptr(tensor_ptr) images = npy_read(FLITSIM_SOURCE_DIR "/configs/data/digits/images.npy", &error);
    g_assert_no_error(error);
    g_autoptr(tensor_ptr) labels = npy_read(FLITSIM_SOURCE_DIR "/configs/data/digits/labels.npy", &error);
    g_assert_no_error(error);
    g_assert_cmpuint(images->shape[0], ==, 597);
    g_assert_cmpuint(images->shape[1], ==, 64);
    g_assert_cmpuint(labels->count, ==, 597);
    for (size_t i = 0; i < labels->count; i++)
        g_assert_true(labels->data[i] >= 0 && labels->data[i] <= 9);
    g_assert_null(npy_read("/nonexistent/x.npy", &error));
    g_assert_error(error, FS_ERROR, FS_ERROR_IO);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tensor/npy/round_trip", round_trip);
    g_test_add_func("/tensor/fp16_view", fp16_view);
    g_test_add_func("/tensor/npy/types_and_byte_orders", types);
    g_test_add_func("/tensor/npy/refusals_name_the_byte", refusals);
    g_test_add_func("/tensor/npy/no_damage_crashes", damage);
    g_test_add_func("/tensor/npy/digits", digits);
    return g_test_run();
}

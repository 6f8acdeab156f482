/* Dense tensors in double precision and the .npy files they come from and go to. A tensor is row-major; what a workload
 * hands to a machine is its FP16 view (workloads §1.2: an operand is a [lanes][K] FP16 array before packing). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/error.h"

enum {
    TENSOR_DIMS_MAX = 8,
};

struct tensor {
    unsigned ndim;                 /* 0..TENSOR_DIMS_MAX; 0 is a scalar */
    size_t shape[TENSOR_DIMS_MAX]; /* elements along each axis, slowest first */
    size_t count;                  /* product of the shape; 1 for a scalar, 0 when an axis is empty */
    double *data;                  /* count elements, never NULL */
};

/* Element type of a written file, little-endian. */
enum npy_type {
    NPY_FLOAT16,
    NPY_FLOAT32,
    NPY_FLOAT64,
};

/* All zeros. The product of the shape must not exceed the memory of the host. */
struct tensor *tensor_new(unsigned ndim, const size_t shape[]);
struct tensor *tensor_new_2d(size_t rows, size_t columns);
void tensor_free(struct tensor *tensor);
/* For g_autoptr(tensor_ptr). */
typedef struct tensor tensor_ptr;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(tensor_ptr, tensor_free)

/* Element (row, column) of a two-dimensional tensor. */
static inline double *tensor_at(const struct tensor *tensor, size_t row, size_t column) {
    return &tensor->data[row * tensor->shape[1] + column];
}

/* The elements rounded to FP16, to nearest even, overflow to infinity; free with g_free. */
uint16_t *tensor_to_fp16(const struct tensor *tensor);
struct tensor *tensor_from_fp16(unsigned ndim, const size_t shape[], const uint16_t *halves);
/* Replaces every element by the value of its FP16 rounding. */
void tensor_round_fp16(struct tensor *tensor);

/* Reads a .npy file, format 1.0 or 2.0: float16/32/64, int8..int64, uint8..uint64, bool, of either byte order. NULL
 * with FS_ERROR_INPUT `FILE:1:COL: npy: what, expected` (COL counts bytes of the file from 1) for anything else, for
 * Fortran order, for a file shorter or longer than its header says, and for integers that a double can't hold;
 * FS_ERROR_IO when the system refuses the file. */
struct tensor *npy_read(const char *path, GError **error);
/* The same from memory; `name` stands for the file in messages. */
struct tensor *npy_parse(const char *name, const void *bytes, size_t size, GError **error);

/* Writes a version 1.0 file in C order. Values are rounded to `type`, to nearest even. FS_ERROR_IO. */
bool npy_write(const struct tensor *tensor, const char *path, enum npy_type type, GError **error);

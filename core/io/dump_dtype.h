/* dump_dtype.h - what the containers of dumps share about element types: their names, and their byte order. */
#ifndef CORE_IO_DUMP_DTYPE_H
#define CORE_IO_DUMP_DTYPE_H

#include "kernels/dtype.h"

#include <stdbool.h>
#include <stddef.h>

/* The type that a word stands for, "bfloat16" or "bf16"; false when it is none. */
bool dump_dtype_named(const char *word, enum dtype *ret);

/* Can elements that are stored as floats of one type hold numbers of the other? A wider type can hold those of a
 * narrower one; of two types of one size only one can be right. */
bool dump_dtype_fits(enum dtype stored, enum dtype said);

/* Turns the bytes of each of n elements around. */
void dump_dtype_swap(void *elements, size_t n, size_t element_bytes);

#endif

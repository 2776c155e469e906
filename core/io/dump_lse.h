/* dump_lse.h - queries and keys checked against the log-sum-exp that the attention kernel gave for each row: whether
 * they are those that the softmax saw, with the scale, softcap and mask that the dump states. */
#ifndef CORE_IO_DUMP_LSE_H
#define CORE_IO_DUMP_LSE_H

#include "core/io/dump.h"

/* Looks at rows all over the layer. ERR_FORMAT where they differ by more than the stored type's rounding; the message
 * says which attribute would make them fit. +inf and -inf both mean a row that saw nothing. */
MUST_CHECK enum status dump_lse_check(struct dump *d, const struct dump_layer *l, struct error *err);

/* By how much a row's stored value may differ from `want`: by its own rounding, and by that of q and k, whose product
 * for any key is at most `product` without signs. */
double dump_lse_tolerance(const struct dump_layer *l, double want, double product);

#endif

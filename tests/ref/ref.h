/* ref.h - the kernels' formulas in plain double and long double: slow, and short enough to see that they are right. */
#ifndef TESTS_REF_REF_H
#define TESTS_REF_REF_H

#include "kernels/qk_entropy.h"
#include "kernels/row_entropy.h"

/* The same arguments and results as row_entropy_cpu() and qk_entropy_cpu(). */
void row_entropy_ref(const struct row_entropy_args *args, struct row_stat *ret);
void qk_entropy_ref(const struct qk_entropy_args *args, struct row_stat *ret);

#endif

/* close.h - the one way that tests compare floating point numbers. */
#ifndef TESTS_SUPPORT_CLOSE_H
#define TESTS_SUPPORT_CLOSE_H

#include <stdbool.h>

/* |got - want| <= abs + rel * |want|; NaN equals only NaN, an infinity only the same infinity. */
struct tol {
    double abs, rel;
};

bool close_to(double got, double want, struct tol t);

#endif

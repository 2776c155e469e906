#include "tests/support/close.h"

#include <math.h>

bool close_to(double got, double want, struct tol t)
{
    if (isnan(want))
        return isnan(got);
    if (isinf(want))
        return isinf(got) && !signbit(got) == !signbit(want);
    return fabs(got - want) <= t.abs + t.rel * fabs(want);
}

"""SciPy's permutation_test on the benchmark's shape, extrapolated from a few resamples.

python gate_peer.py [DRAWS TASKS CELLS]
"""
import sys
import time

import numpy
from scipy.stats import permutation_test

draws, tasks, cells = (int(a) for a in (sys.argv[1:] + ["100000", "200", "4096"][len(sys.argv) - 1:]))
few = min(draws, 200)
diff = numpy.random.default_rng(0).normal(size=(tasks, cells))


def statistic(x, axis):
    return numpy.mean(x, axis=axis)


start = time.perf_counter()
permutation_test((diff,), statistic, permutation_type="samples", vectorized=True, n_resamples=few, axis=0)
took = (time.perf_counter() - start) * draws / few
print('{"bench": "scipy", "draws": %d, "tasks": %d, "cells": %d, "seconds": %.0f, "measured_draws": %d}'
      % (draws, tasks, cells, took, few))

#!/usr/bin/env python3
"""Compares tare's attention cubes with a float64 oracle written beside a dump.

usage: check_entropy.py TARE DUMP.h5 [ORACLE.json]      default: DUMP.oracle.json

The oracle holds, for every sample, layer and head, what NumPy gave in float64 from the stored values:
entropy_bits, entropy_norm, max_weight. The bound is 1e-5 for all three: rows are summed in float32 lanes that are
flushed to double, which costs up to 4e-6 bit, and the means over rows are double.
"""
import csv
import io
import json
import math
import os
import subprocess
import sys
import tempfile

METRICS = {"attn.entropy": "entropy_bits", "attn.entropy_norm": "entropy_norm", "attn.max_weight": "max_weight"}
BOUND = 1e-5


def cells(tare, run, metric):
    text = subprocess.run([tare, "inspect", run, "--metric", metric, "--csv"], check=True, capture_output=True, text=True)
    return {(r["task"], int(r["layer"]), int(r["head"])): float(r["value"]) for r in csv.DictReader(io.StringIO(text.stdout))}


def worst(got, oracle, key):
    """Largest difference over all cells of the oracle; a missing or wrongly missing cell counts as infinite."""
    worst_by = 0.0
    for sample, name in enumerate(oracle["samples"]):
        for place, layer in enumerate(oracle["layers"]):
            for head, want in enumerate(oracle[key][sample][place]):
                have = got.get((name, layer, head), math.inf)
                want = math.nan if want is None else want
                if math.isnan(want) != math.isnan(have):
                    return math.inf
                if not math.isnan(want):
                    worst_by = max(worst_by, abs(have - want))
    return worst_by


def main():
    tare, dump = sys.argv[1:3]
    with open(sys.argv[3] if len(sys.argv) > 3 else os.path.splitext(dump)[0] + ".oracle.json", encoding="utf-8") as f:
        oracle = json.load(f)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run.h5")
        subprocess.run([tare, "run", "--quiet", "--dump", dump, "-o", run], check=True)
        for metric, key in METRICS.items():
            difference = worst(cells(tare, run, metric), oracle, key)
            failed |= not difference <= BOUND
            print(f"{metric}: largest difference from float64 {difference:.2e}, bound {BOUND:.0e}")
    sys.exit(1 if failed else 0)


main()

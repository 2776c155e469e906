"""Entropy of the same dump by others, in turns with attention_bench: attention_peers.py BENCH DUMP.h5

The others have the weights in memory and compute the mean entropy alone; attention_bench reads the file and computes
every metric. Needs h5py and numpy; torch where it is there."""
import statistics
import subprocess
import sys
import time

import h5py
import numpy as np

try:
    import torch
except ImportError:
    torch = None

ROUNDS = 5


def load(path):
    with h5py.File(path) as f:
        return [f[f"layers/{name}/attn_weights"][...] for name in sorted(f["layers"])]


def numpy_entropy(layers):
    for w in layers:
        p = w.astype(np.float32)
        -(p * np.log2(np.where(p > 0, p, 1))).sum(-1).mean((0, 2))


def torch_entropy(w):
    p = w.float()
    return -(p * torch.where(p > 0, p, 1).log2()).sum(-1).mean((0, 2))


def main():
    bench, path = sys.argv[1:]
    layers = load(path)
    if layers[0].dtype == np.uint16:
        sys.exit("attention_peers.py: give it a float16 or float32 dump")
    sides = {"attention_bench, from the file": lambda: None, "NumPy": lambda: numpy_entropy(layers)}
    if torch:
        tensors = [torch.from_numpy(w) for w in layers]
        compiled = torch.compile(torch_entropy, dynamic=False)
        sides["PyTorch eager"] = lambda: [torch_entropy(w) for w in tensors]
        sides["torch.compile"] = lambda: [compiled(w) for w in tensors]
    seconds = {name: [] for name in sides}
    for turn in range(ROUNDS + 1):  # the first compiles and warms up
        for name, run in sides.items():
            begin = time.perf_counter()
            if run() is None and name.startswith("attention_bench"):
                taken = float(subprocess.run([bench, "once", path], capture_output=True, check=True, text=True).stdout)
            else:
                taken = time.perf_counter() - begin
            if turn:
                seconds[name].append(taken)
    ours = statistics.median(seconds["attention_bench, from the file"])
    print(f"{path}, others with the data in memory, mean entropy alone, medians of {ROUNDS}:")
    for name, taken in seconds.items():
        median = statistics.median(taken)
        print(f"  {name:<42} {median * 1e3:7.1f} ms  {median / ours:5.2f}x our time")


main()

"""Entropy of the same dumps by others, in turns with attention_bench: attention_peers.py BENCH DUMP.h5…

From weights, PyTorch has them in memory and computes the mean entropy alone, NumPy reads them from the file first; from
queries and keys both are in memory. attention_bench reads the file and computes every metric. Needs h5py and numpy;
torch where it is there. Each dump takes at most some SECONDS, and PyTorch's compiler as long once more."""
import signal
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

SECONDS = 30  # for the rounds of one dump
LEAST, MOST = 3, 9  # rounds


def layers_of(f):
    return [f[f"layers/{name}"] for name in sorted(f["layers"])]


def numpy_from_file(path):
    with h5py.File(path) as f:
        for layer in layers_of(f):
            p = layer["attn_weights"][...].astype(np.float32)
            -(p * np.log2(np.where(p > 0, p, 1))).sum(-1).mean((0, 2))


def torch_entropy(w):
    p = w.float()
    return -(p * torch.where(p > 0, p, 1).log2()).sum(-1).mean((0, 2))


def torch_scores(q, k, mask, scale):
    """Queries (B,H,T,D), keys (B,Hkv,T,D), mask added to the scores."""
    k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
    p = torch.softmax(q.float() @ k.float().transpose(-1, -2) * scale + mask, -1)
    return -(p * torch.where(p > 0, p, 1).log2()).sum(-1).mean((0, 2))


def torch_product(q, k):
    return q.float() @ k.repeat_interleave(q.shape[1] // k.shape[1], 1).float().transpose(-1, -2)


def mask_of(layer, n):
    i, j = torch.arange(n)[:, None], torch.arange(n)[None, :]
    seen = (j <= i) if layer.attrs["causal"] else torch.ones(n, n, dtype=torch.bool)
    if layer.attrs["window"] > 0:
        seen = seen & (i - j < int(layer.attrs["window"]))
    return torch.where(seen, 0.0, -torch.inf)


def give_up(*_):
    raise TimeoutError


def compiled(function, arguments):
    """None where the compiler is missing, fails or does not come to an end."""
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(2 * SECONDS)
    try:
        fast = torch.compile(function, dynamic=False)
        for a in arguments:
            fast(*a)
        return fast
    except Exception as e:  # whatever the compiler throws
        print(f"  torch.compile is left out: {type(e).__name__}")
        return None
    finally:
        signal.alarm(0)


def sides_of(path):
    """Names, what to time, and the ratio that is aimed at, or None."""
    with h5py.File(path) as f:
        layers = layers_of(f)
        is_weights = "attn_weights" in layers[0]
        data = [[x[...] for x in ((layer["attn_weights"],) if is_weights else (layer["q"], layer["k"]))] for layer in layers]
        if data[0][0].dtype == np.uint16:
            return []
        packed = is_weights and layers[0]["attn_weights"].chunks
        masks = [] if is_weights or not torch else [mask_of(layer, layer["q"].shape[2]) for layer in layers]
        scales = [float(layer.attrs.get("scale", 1)) for layer in layers]
    sides = []
    if is_weights:
        sides.append(("NumPy, from the file by h5py", lambda: numpy_from_file(path), 8 if packed else 20))
    if not torch or packed:
        return sides
    tensors = [tuple(torch.from_numpy(x) for x in d) for d in data]
    if is_weights:
        function, arguments, aims = torch_entropy, tensors, (None, 2)
    else:
        function, aims = torch_scores, (7, 2.5)
        arguments = [(*t, m, s) for t, m, s in zip(tensors, masks, scales)]
        sides.append(("PyTorch, the product of q and k alone", lambda: [torch_product(*t) for t in tensors], 1.5))
    sides.append(("PyTorch eager", lambda: [function(*a) for a in arguments], aims[0]))
    fast = compiled(function, arguments)
    if fast:
        sides.append(("torch.compile", lambda: [fast(*a) for a in arguments], aims[1]))
    return sides


def time_of(run):
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def compare(bench, path):
    sides = sides_of(path)
    if not sides:
        print(f"{path}: nothing to compare with")
        return
    ours, others, begin = [], [[] for _ in sides], time.perf_counter()
    while len(ours) < LEAST or (len(ours) < MOST and time.perf_counter() - begin < SECONDS):
        ours.append(float(subprocess.run([bench, "once", path], capture_output=True, check=True, text=True).stdout))
        for taken, (_, run, _) in zip(others, sides):
            taken.append(time_of(run))
    mine = statistics.median(ours)
    print(f"{path}: {mine * 1e3:.1f} ms; others, medians of {len(ours)} in turns:")
    for taken, (name, _, aim) in zip(others, sides):
        median = statistics.median(taken)
        ratio = median / mine
        said = "      " if aim is None else "met   " if ratio >= aim else "MISSED"
        print(f"  {said} {ratio:6.2f}x{f' of {aim}x aimed at' if aim else '':18} {median * 1e3:8.1f} ms  {name}")


def main():
    bench, *paths = sys.argv[1:]
    if torch:
        torch.set_grad_enabled(False)
    for path in paths:
        if h5py.is_hdf5(path):
            compare(bench, path)


main()

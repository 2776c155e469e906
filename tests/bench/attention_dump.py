"""A synthetic attention dump in safetensors, causal float16 weights: attention_dump.py FILE [LAYERS HEADS TOKENS]"""
import json
import random
import struct
import sys


def weights_of_row(n, tokens, rng):
    """Softmax-like: a few large weights, the rest small; float16 bits, zeros beyond the n visible keys."""
    raw = [rng.choice(table) for _ in range(n)]
    total = sum(raw)
    return struct.pack(f"<{tokens}e", *(x / total for x in raw), *([0.0] * (tokens - n)))


def main():
    path = sys.argv[1]
    layers, heads, tokens = (int(x) for x in sys.argv[2:5]) if len(sys.argv) > 2 else (6, 4, 1510)
    rng = random.Random(0)
    head = b"".join(weights_of_row(i + 1, tokens, rng) for i in range(tokens))
    small = {"samples.length": struct.pack("<i", tokens), "samples.first": struct.pack("<i", 0), "samples.query_start": struct.pack("<i", 0)}
    meta = {"format": "attn-dump", "format_version": "1", "store_dtype": "float16",
            "samples.id": json.dumps(["synthetic"])}
    header, offset = {"__metadata__": meta}, 0
    for name, data in small.items():
        header[name] = {"dtype": "I32", "shape": [1], "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    for layer in range(layers):
        meta.update({f"layers.{layer:03d}.{k}": v for k, v in
                     (("causal", "1"), ("window", "0"), ("scale", "1"), ("softcap", "0"))})
        size = heads * len(head)
        header[f"layers.{layer:03d}.attn_weights"] = {"dtype": "F16", "shape": [1, heads, tokens, tokens],
                                                      "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(small.values()))
        for _ in range(layers * heads):
            f.write(head)


table = [2.0 ** x for x in range(-8, 9)]

if __name__ == "__main__":
    main()

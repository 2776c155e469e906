#!/usr/bin/env python3
"""Record the attention weights of a model over the conversations of a recording, as one HDF5 dump.

For every task the prompt of its last turn and the recorded reply to it are read back from the recording, put
through the model once, and the weights of the last query rows (the rows of the answer) are kept, per layer and
head, in half precision.  Beside the dump an oracle file can be written: entropies in float64, computed from the
values as stored, by code that shares nothing with the tool that later reads the dump.

The model is a folder that transformers can load; for a GGUF file give its folder and --gguf NAME, and it is
dequantised to float32.  Needs torch, transformers, h5py, numpy, gguf, and record_replies.py beside it.
"""
import argparse
import base64
import datetime
import hashlib
import json
import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import h5py
import numpy as np
import torch
import transformers

import record_replies as replies

LAYOUT = {"format": "attn-dump", "format_version": 1}


# ---- texts --------------------------------------------------------------------------------------------------

def reply_text(records):
    got = [(r["t_ns"], base64.b64decode(r["b64"])) for r in records]
    return replies.text_of_events(replies.split_answer(got)[2])[0]


def conversations(recording, taskset_dir):
    """[(task id, prompt of its last turn + reply)] in the order of the task set; completions only."""
    manifest, _ = replies.read_json(os.path.join(recording, "manifest.json"))
    taskset, sha = replies.read_json(os.path.join(taskset_dir, "taskset.json"))
    tasks = taskset["tasks"]
    if manifest["taskset_sha256"] != sha:
        sys.exit("record_attention: the recording was made with other tasks than this taskset.json")
    files = {(x["task"], x["turn"], x["repeat"]): x["file"] for x in manifest["files"]}
    out = []
    for task in tasks:
        name = files[task["id"], len(task["turns"]), 1]
        with open(os.path.join(recording, name), encoding="utf-8") as f:
            first, *records = [json.loads(line) for line in f]
        if "prompt" not in first["meta"]["request"]:
            sys.exit(f"record_attention: {name} is a chat request; only plain completions say what the model read")
        out.append((task["id"], first["meta"]["request"]["prompt"] + reply_text(records)))
    return manifest, out


# ---- model --------------------------------------------------------------------------------------------------

def load(args):
    extra = {"gguf_file": args.gguf} if args.gguf else {}
    tok = transformers.AutoTokenizer.from_pretrained(args.model, **extra)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        args.model, dtype=torch.float32, attn_implementation="eager", **extra)
    return model.eval(), tok


def digest_of_parameters(model):
    """One SHA-256 over all parameters, by name."""
    h = hashlib.sha256()
    for name, p in sorted(model.named_parameters()):
        h.update(name.encode() + b"\0")
        h.update(p.detach().contiguous().numpy().tobytes())
    return h.hexdigest()


def sharpen(attention, head, gain):
    """Multiply the normalised queries of one head, so that its softmax gets sharper; returns the hook."""
    def scale(_module, _inputs, q):                    # q: batch, head, row, feature
        factor = torch.ones(q.shape[1], 1, 1, dtype=q.dtype)
        factor[head] = gain
        return q * factor
    return attention.q_norm.register_forward_hook(scale)


@torch.no_grad()
def attention_rows(model, ids, layers, rows):
    """Weights of the last `rows` query rows of one sequence: {layer: float32 [heads, rows, keys]}."""
    kept, hooks = {}, []
    for i in layers:
        def keep(_module, _inputs, output, i=i):
            kept[i] = output[1][0, :, -rows:].float().numpy()
        hooks.append(model.model.layers[i].self_attn.register_forward_hook(keep))
    try:
        model(input_ids=torch.tensor([ids]), use_cache=False, logits_to_keep=1)
    finally:
        for h in hooks:
            h.remove()
    return kept


# ---- files --------------------------------------------------------------------------------------------------

def write_dump(path, attrs, ids, weights, tokens, layer_attrs, rows):
    """weights: per sample {layer: [heads, rows or fewer, keys]}.  Samples are padded on the right."""
    n, keys = len(ids), max(len(t) for t in tokens)
    length = np.array([len(t) for t in tokens], np.int32)
    token_ids = np.full((n, keys), -1, np.int32)
    for b, t in enumerate(tokens):
        token_ids[b, :len(t)] = t
    with h5py.File(path + ".part", "w", libver=("earliest", "v110")) as f:
        f.attrs.update({**LAYOUT, **attrs})
        s = f.create_group("samples")
        s.create_dataset("id", data=ids, dtype=h5py.string_dtype())
        s["length"] = length
        s["first"] = np.zeros(n, np.int32)
        s["query_start"] = np.maximum(length - rows, 0).astype(np.int32)
        s.create_dataset("mask", data=(token_ids >= 0).astype(np.uint8), compression="gzip")
        s.create_dataset("token_ids", data=token_ids, compression="gzip")
        for layer, la in layer_attrs.items():
            a = np.zeros((n, la["n_heads"], rows, keys), np.float16)
            for b, w in enumerate(weights):
                x = w[layer]
                a[b, :, :x.shape[1], :x.shape[2]] = x
            g = f.create_group(f"layers/{layer:03d}")
            g.attrs.update(la)
            d = g.create_dataset("attn_weights", data=a, chunks=(1, 1, rows, keys), shuffle=True,
                                 compression="gzip", compression_opts=9)
            d.attrs["logical_dtype"] = "float16"
    os.replace(path + ".part", path)


def layer_attributes(model, layer):
    cfg, attn = model.config, model.model.layers[layer].self_attn
    window = getattr(attn, "sliding_window", None) or 0
    return {"causal": np.uint8(1), "window": np.int32(window), "scale": np.float64(attn.scaling),
            "softcap": np.float64(getattr(attn, "attn_logit_softcapping", None) or 0),
            "n_heads": np.int32(cfg.num_attention_heads), "n_kv_heads": np.int32(cfg.num_key_value_heads),
            "head_dim": np.int32(attn.head_dim), "layer_type": "sliding" if window else "full"}


def oracle(path):
    """Entropy, normalised entropy and largest weight per sample, layer and head, from the file alone, in float64.

    A row at key position p counts where first <= p < first + length; it sees the keys from first, or from
    p - window + 1 in a sliding layer, to p; it is divided by its own sum."""
    out = {"metric": "attn.entropy",
           "definition": "mean over a sample's valid rows of -sum p log2 p, each row divided by its own sum over its "
                         "visible keys; entropy_norm: mean of H / log2 n over rows with n >= 2 visible keys; "
                         "max_weight: mean of the largest weight of the row as stored",
           "samples": [], "layers": [], "entropy_bits": [], "entropy_norm": [], "max_weight": []}
    with h5py.File(path) as f:
        s = {k: f["samples"][k][...] for k in ("id", "length", "first", "query_start")}
        names = sorted(f["layers"])
        out["samples"] = [x.decode() for x in s["id"]]
        out["layers"] = [int(x) for x in names]
        for b in range(len(s["id"])):
            per_layer = {"entropy_bits": [], "entropy_norm": [], "max_weight": []}
            for name in names:
                g = f["layers"][name]
                w = g["attn_weights"][b].astype(np.float64)
                window, begin, end = int(g.attrs["window"]), int(s["first"][b]), int(s["first"][b] + s["length"][b])
                h, hn, mx = [], [], []
                for i in range(w.shape[1]):
                    p = int(s["query_start"][b]) + i
                    if not begin <= p < end:
                        continue
                    low = max(begin, p - window + 1) if window else begin
                    row = w[:, i, low:p + 1]
                    mx.append(row.max(1))
                    row = row / row.sum(1, keepdims=True)
                    bits = -(row * np.log2(np.where(row > 0, row, 1))).sum(1)
                    h.append(bits)
                    if row.shape[1] > 1:
                        hn.append(bits / np.log2(row.shape[1]))
                for key, values in (("entropy_bits", h), ("entropy_norm", hn), ("max_weight", mx)):
                    per_layer[key].append([round(float(x), 12) for x in np.mean(values, 0)])
            for key, values in per_layer.items():
                out[key].append(values)
    return out


def record(args):
    torch.set_num_threads(args.threads)
    manifest, texts = conversations(args.recording, args.taskset)
    model, tok = load(args)
    layers = [int(x) for x in args.layers.split(",")] if args.layers else range(model.config.num_hidden_layers)
    weights_sha, variant = manifest.get("weights_sha256", ""), "none"
    if args.sharpen:
        layer, head, gain = args.sharpen
        sharpen(model.model.layers[layer].self_attn, head, gain)
        variant = f"queries of layer {layer} head {head} times {gain:g}"
        weights_sha = hashlib.sha256(f"{weights_sha} {variant}".encode()).hexdigest()
    attrs = {"model_name": args.model_name or manifest["model_asked"],
             "model_file_sha256": manifest.get("weights_sha256", ""), "weights_sha256": weights_sha,
             "parameters_sha256": digest_of_parameters(model), "variant": variant,
             "prompt_version": manifest["prompt_version"], "prompt_sha256": manifest["prompt_sha256"],
             "taskset": manifest["taskset"], "taskset_sha256": manifest["taskset_sha256"],
             "compute_dtype": "float32", "store_dtype": "fp16", "pad_side": "right",
             "n_layers": int(model.config.num_hidden_layers), "n_heads": int(model.config.num_attention_heads),
             "n_kv_heads": int(model.config.num_key_value_heads),
             "capture": f"transformers {transformers.__version__} eager, torch {torch.__version__}",
             "captured_utc": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}
    tokens, weights = [], []
    for name, text in texts:
        tokens.append(tok(text)["input_ids"])
        weights.append(attention_rows(model, tokens[-1], layers, args.rows))
        print(f"{name}: {len(tokens[-1])} tokens", file=sys.stderr, flush=True)
    write_dump(args.out, attrs, [n for n, _ in texts], weights, tokens,
               {i: layer_attributes(model, i) for i in layers}, args.rows)
    if args.manifest:
        manifest.update(weights_version=f"{manifest.get('weights_version', '')}, {variant}".lstrip(", "),
                        weights_sha256=weights_sha, dumps=[os.path.basename(args.out)], files=[],
                        notes=f"Attention only: the texts of the recording '{os.path.basename(args.recording)}', read "
                              f"by the same model with this change: {variant}. It has no replies of its own and is "
                              "meant to be used with those of that recording. weights_sha256 is the SHA-256 of the "
                              "weights' own hash, a space, and the words of the change.")
        manifest["observed_on"] = {**manifest["observed_on"], "when_utc": attrs["captured_utc"],
                                   "server": f"none; transformers {transformers.__version__}"}
        replies.write_manifest(args.manifest, manifest)


def sharpening(text):
    try:
        layer, head, gain = text.split(":")
        return int(layer), int(head), float(gain)
    except ValueError:
        raise argparse.ArgumentTypeError("write it as LAYER:HEAD:GAIN, for example 8:0:20") from None


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog="\n\n".join(__doc__.split("\n\n")[1:]),
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--taskset", metavar="DIR", help="folder that holds taskset.json")
    p.add_argument("--recording", metavar="DIR", help="folder that record_replies.py wrote")
    p.add_argument("--model", metavar="DIR", help="model folder, read from disk only")
    p.add_argument("--gguf", metavar="NAME", help="GGUF file inside that folder")
    p.add_argument("--model-name", metavar="TEXT", help="name for the dump; default: the recording's")
    p.add_argument("--out", required=True, metavar="FILE", help="dump to write (or to read, with --only-oracle)")
    p.add_argument("--layers", metavar="A,B,…", help="layers to keep; default: all")
    p.add_argument("--rows", type=int, default=32, metavar="Q", help="query rows to keep at the end; default: 32")
    p.add_argument("--sharpen", type=sharpening, metavar="LAYER:HEAD:GAIN",
                   help="multiply the queries of one head")
    p.add_argument("--manifest", metavar="FILE", help="also write a manifest for a recording of attention alone")
    p.add_argument("--threads", type=int, default=2, metavar="N", help="default: 2")
    p.add_argument("--oracle", metavar="FILE", help="also write the float64 entropies of the dump")
    p.add_argument("--only-oracle", action="store_true", help="the dump is there already: just read it")
    args = p.parse_args()
    if not args.only_oracle:
        if not (args.taskset and args.recording and args.model):
            p.error("--taskset, --recording and --model are needed")
        record(args)
    if args.oracle:
        with open(args.oracle, "w", encoding="utf-8") as f:
            json.dump(oracle(args.out), f, separators=(",", ":"))
            f.write("\n")


if __name__ == "__main__":
    main()

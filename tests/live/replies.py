#!/usr/bin/env python3
"""What a recording says, read again without tare: an oracle for llama.sh.

  replies.py ttft RECORDING CSV    the times to first content equal those of `tare inspect --metric latency.ttft --csv`
  replies.py same ONE OTHER        two recordings have the same texts, but for --allow of them
  replies.py text RECORDING        the texts, one a line, as JSON
Standard library only.  Ends with 1 and a sentence when something is not as it should be.
"""
import argparse
import base64
import csv
import json
import os
import sys

EVENT_END = b"\n\n"


def exchanges(folder):
    """Yield (task, turn, repeat), meta and [(t_ns, bytes)] of each file of a recording."""
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    for entry in manifest["files"]:
        with open(os.path.join(folder, entry["file"]), encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
        reads = [(r["t_ns"], base64.b64decode(r["b64"])) for r in lines[1:]]
        yield (entry["task"], entry["turn"], entry["repeat"]), lines[0]["meta"], reads


def events(reads):
    """Yield (t_ns of the read that completed it, data) of each event; this server ends lines with LF alone."""
    pending = b""
    for t_ns, data in reads:
        pending += data
        while EVENT_END in pending:
            event, pending = pending.split(EVENT_END, 1)
            for line in event.split(b"\n"):
                if line.startswith(b"data: ") and line != b"data: [DONE]":
                    yield t_ns, json.loads(line[6:])


def piece(chunk):
    choice = chunk["choices"][0]
    part = choice.get("delta", choice.get("message", choice))
    return part.get("content") or part.get("text") or ""


def reply(reads):
    """The text, and the time of the read that brought its first piece."""
    body = b"".join(data for _, data in reads)
    if body.lstrip()[:1] == b"{":
        whole = json.loads(body)
        return (piece(whole) if "choices" in whole else ""), max(t for t, data in reads if data)
    text, first_ns = "", None
    for t_ns, chunk in events(reads):
        if "choices" in chunk and piece(chunk):
            first_ns = t_ns if first_ns is None else first_ns
            text += piece(chunk)
    return text, first_ns


def values(path):
    """{(task, turn, repeat): value} of `tare inspect --csv`; an axis that the metric lacks is 1."""
    with open(path, encoding="utf-8", newline="") as f:
        return {(row["task"], int(row.get("turn", 1)), int(row.get("repeat", 1))): float(row["value"])
                for row in csv.DictReader(f) if row["value"] != "nan"}


def check_ttft(args):
    told = values(args.csv)
    seen = 0
    for key, meta, reads in exchanges(args.recording):
        _, first_ns = reply(reads)
        if first_ns is None:
            continue
        seen += 1
        want = (first_ns - meta["sent_ns"]) / 1e6
        # both are a difference of integers, scaled: a few roundings of a double
        if key not in told or abs(told[key] - want) > 1e-9 * want:
            return f"{key}: first content after {want} ms by its bytes, {told.get(key)} by tare"
    if seen == 0 or seen != len(told):
        return f"{seen} replies have content, tare has {len(told)} times"
    return None


def check_same(args):
    one = {key: reply(reads)[0] for key, _, reads in exchanges(args.one)}
    other = {key: reply(reads)[0] for key, _, reads in exchanges(args.other)}
    if set(one) != set(other):
        return f"other requests: {sorted(set(one) ^ set(other))[:3]}"
    differ = [key for key in one if one[key] != other[key]]
    if len(differ) > args.allow * len(one):
        key = differ[0]
        return f"{len(differ)} of {len(one)} texts differ, {key}: {one[key][:60]!r} and {other[key][:60]!r}"
    return None


def print_texts(args):
    for key, _, reads in exchanges(args.recording):
        print(json.dumps([*key, reply(reads)[0]], ensure_ascii=False))


def main():
    parser = argparse.ArgumentParser(description="reads a recording without tare")
    commands = parser.add_subparsers(required=True)
    for name, run, operands in (("ttft", check_ttft, ("recording", "csv")), ("same", check_same, ("one", "other")),
                                ("text", print_texts, ("recording",))):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        for operand in operands:
            command.add_argument(operand)
        command.add_argument("--allow", type=float, default=0, help="share of the texts that may differ")
    args = parser.parse_args()
    wrong = args.run(args)
    if wrong:
        print(wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

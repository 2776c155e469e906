#!/usr/bin/env python3
"""Record the replies of an OpenAI-compatible endpoint to a task set, byte by byte.

Every turn of every task becomes one JSON Lines file: a line with the request and what is known about the
answer, then one line for every receive, with the time since the request left and the bytes as they came (HTTP
head and chunk framing included; header lines that could name a machine are dropped).  A manifest.json says which
file belongs to which task, turn and repeat.  Such a folder can be replayed later without any server.

Only endpoints on this machine are accepted, one request is in flight at a time, and every request has a limit
on its tokens and on its time.  Python 3.9 or newer, standard library only.
"""
import argparse
import base64
import datetime
import hashlib
import http.client
import json
import os
import re
import socket
import sys
import time
import urllib.parse

LOOPBACK = ("127.0.0.1", "localhost", "::1")
HEADERS_KEPT = ("content-type", "transfer-encoding", "content-length", "connection", "cache-control",
                "x-accel-buffering")
MAX_ANSWER_BYTES = 16 << 20


class RecordError(Exception):
    """Something that ends the recording, said in one sentence."""


def utc_now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")


def read_json(path):
    """Return the parsed file and the SHA-256 of its bytes."""
    with open(path, "rb") as f:
        raw = f.read()
    try:
        return json.loads(raw), hashlib.sha256(raw).hexdigest()
    except ValueError as e:
        raise RecordError(f"{path} is not JSON: {e}") from e


def sha256_of_file(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            h.update(block)
    return h.hexdigest()


def cpu_model():
    """The marketing name of the processor: it explains latencies and names no machine."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            return next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        return "unknown"


# ---- what to send -------------------------------------------------------------------------------------------

def fill(template, **values):
    """Put values for {name}; other braces stay as they are, and values are not scanned again."""
    return re.sub(r"\{(\w+)\}", lambda m: values.get(m.group(1), m.group(0)), template)


def request_body(prompt, task, turn, replies, args):
    """The JSON body for turn number `turn` (from 0), given the replies to all turns before it."""
    docs = task.get("documents", [])
    body = {"model": args.model, "max_tokens": task["turns"][turn].get("max_tokens", args.max_tokens),
            "temperature": args.temperature}
    if prompt["kind"] == "completion":
        parts = [prompt.get("preamble", "")] + [fill(prompt["document"], text=d["text"]) for d in docs]
        for user, reply in zip(task["turns"], replies):
            parts += [fill(prompt["turn"], user=user["user"]), fill(prompt["reply"], reply=reply.strip())]
        parts.append(fill(prompt["turn"], user=task["turns"][turn]["user"]))
        body["prompt"] = "".join(parts)
        path = "completions"
    elif prompt["kind"] == "chat":
        messages = [{"role": "system", "content": prompt["system"]}] if prompt.get("system") else []
        head = "".join(fill(prompt.get("document", "{text}\n\n"), text=d["text"]) for d in docs)
        for k, user in enumerate(task["turns"][:turn + 1]):
            messages.append({"role": "user", "content": (head if k == 0 else "") + user["user"]})
            if k < turn:
                messages.append({"role": "assistant", "content": replies[k].strip()})
        body["messages"] = messages
        path = "chat/completions"
    else:
        raise RecordError(f"prompt kind '{prompt['kind']}' is neither 'completion' nor 'chat'")
    if prompt.get("stop"):
        body["stop"] = prompt["stop"]
    return path, body


# ---- one streamed request -----------------------------------------------------------------------------------

def exchange(host, port, path, body, timeout):
    """Send one request, return (records, meta).  Times are nanoseconds after the last request byte was written."""
    data = json.dumps(body, ensure_ascii=False).encode()
    shown = f"[{host}]" if ":" in host else host
    head = (f"POST {path} HTTP/1.1\r\nHost: {shown}:{port}\r\nContent-Type: application/json\r\n"
            f"Accept: text/event-stream\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n").encode()
    deadline = time.monotonic() + timeout
    began = time.perf_counter_ns()
    with socket.create_connection((host, port), timeout=timeout) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected = time.perf_counter_ns()
        s.sendall(head + data)
        zero = time.perf_counter_ns()
        wall = utc_now()
        records, total = [], 0
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise RecordError(f"no complete answer within {timeout:g} s")
            s.settimeout(left)
            got = s.recv(65536)
            records.append((time.perf_counter_ns() - zero, got))
            total += len(got)
            if not got:
                break
            if total > MAX_ANSWER_BYTES:
                raise RecordError(f"the answer is longer than {MAX_ANSWER_BYTES} bytes")
    meta = {"path": path, "request": body, "sent_ns": 0, "scheduled_ns": 0, "connect_ns": connected - began,
            "wall_utc": wall, "framing": "http"}
    return records, meta


def scrub(records):
    """Drop the header lines that could name a machine or a day; the other bytes and all times stay.

    The head is rewritten only where it arrived whole in the first receive, as it does on loopback."""
    t, first = records[0]
    head, gap, rest = first.partition(b"\r\n\r\n")
    if not gap:
        return records
    lines = head.split(b"\r\n")
    kept = [x for x in lines[1:] if x.split(b":", 1)[0].strip().lower().decode("latin-1") in HEADERS_KEPT]
    return [(t, b"\r\n".join(lines[:1] + kept) + gap + rest)] + records[1:]


def split_answer(records):
    """Bytes of an answer -> (status, header lines, body with the chunk framing taken off)."""
    raw = b"".join(data for _, data in records)
    head, gap, body = raw.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    if not gap or not re.match(r"HTTP/1\.[01] \d{3}", lines[0]):
        raise RecordError("the answer has no HTTP head")
    headers = [f"{k.strip().lower()}: {v.strip()}" for k, _, v in (x.partition(":") for x in lines[1:])]
    if any(h == "transfer-encoding: chunked" for h in headers):
        out, at = [], 0
        while True:
            end = body.find(b"\r\n", at)
            if end < 0:
                raise RecordError("the answer ends within a chunk")
            size = int(body[at:end].split(b";")[0], 16)
            if size == 0:
                break
            out.append(body[end + 2:end + 2 + size])
            at = end + 2 + size + 2
        body = b"".join(out)
    return int(lines[0].split()[1]), headers, body


def text_of_choice(choice):
    for part in ("delta", "message"):
        if part in choice:
            return choice[part].get("content") or ""
    return choice.get("text") or ""


def text_of_events(body):
    """Join the text of server-sent events; return it with the finish reason."""
    text, finish = [], None
    for event in re.split(r"\n\n", body.decode("utf-8").replace("\r\n", "\n")):
        data = "\n".join(line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:"))
        if not data or data == "[DONE]":
            continue
        obj = json.loads(data)
        if "error" in obj:
            raise RecordError(f"the stream carries an error: {obj['error']}")
        for choice in obj.get("choices", [])[:1]:
            text.append(text_of_choice(choice))
            finish = choice.get("finish_reason") or finish
    return "".join(text), finish


def ask_plain(host, port, path, body, timeout):
    """The same request without a stream: gives the server's own token counts, and a second look at the text."""
    c = http.client.HTTPConnection(host, port, timeout=timeout)
    try:
        c.request("POST", path, json.dumps(body, ensure_ascii=False).encode(), {"Content-Type": "application/json"})
        answer = c.getresponse()
        raw = answer.read(MAX_ANSWER_BYTES)
    finally:
        c.close()
    if answer.status != 200:
        raise RecordError(f"the plain request was answered with status {answer.status}: {raw[:200]!r}")
    obj = json.loads(raw)
    return text_of_choice(obj["choices"][0]), obj.get("usage") or {}


# ---- the recording ------------------------------------------------------------------------------------------

def record_turn(args, endpoint, prompt, task, turn, replies):
    """Record one turn; return its text and the lines of its file."""
    host, port, base = endpoint
    path, body = request_body(prompt, task, turn, replies, args)
    path = f"{base}/{path}"
    cold = {**body, "max_tokens": 1}
    cold.update({"prompt": "."} if "prompt" in body else {"messages": [{"role": "user", "content": "."}]})
    if args.cold:
        ask_plain(host, port, path, cold, args.timeout)
    records, meta = exchange(host, port, path, {**body, "stream": True}, args.timeout)
    records = scrub(records)
    status, headers, sse = split_answer(records)
    meta.update(status=status, headers=headers)
    if status != 200:
        raise RecordError(f"{task['id']} turn {turn + 1}: status {status}: {sse[:200]!r}")
    text, finish = text_of_events(sse)
    if finish is None:
        raise RecordError(f"{task['id']} turn {turn + 1}: the stream ended without a finish reason")
    if args.cold:
        ask_plain(host, port, path, cold, args.timeout)
    plain, usage = ask_plain(host, port, path, body, args.timeout)
    if "completion_tokens" in usage:
        meta["usage"] = {"prompt_tokens": usage["prompt_tokens"], "completion_tokens": usage["completion_tokens"],
                         "source": "plain request", "same_text": plain == text}
    lines = [json.dumps({"meta": meta}, ensure_ascii=False)]
    lines += [json.dumps({"t_ns": t, "b64": base64.b64encode(b).decode()}) for t, b in records]
    return text, finish, meta.get("usage"), lines


def write_manifest(path, manifest):
    """Two spaces of indent, one line for each file, and the file appears only when it is complete."""
    files = ",\n".join("    " + json.dumps(x, ensure_ascii=False) for x in manifest["files"])
    text = json.dumps({**manifest, "files": []}, ensure_ascii=False, indent=2)
    if files:
        text = text[:text.rindex("[]")] + "[\n" + files + "\n  ]\n}"
    with open(path + ".part", "w", encoding="utf-8") as f:
        f.write(text + "\n")
    os.replace(path + ".part", path)


def text_of_file(path):
    """The request and the text of a turn that was recorded before."""
    with open(path, encoding="utf-8") as f:
        first, *records = [json.loads(line) for line in f]
    got = [(r["t_ns"], base64.b64decode(r["b64"])) for r in records]
    return first["meta"]["request"], text_of_events(split_answer(got)[2])[0]


def check_kept(args, prompt, taskset):
    """With --task: the files that stay must answer what would be asked now."""
    unknown = set(args.task) - {t["id"] for t in taskset["tasks"]}
    if unknown:
        raise RecordError(f"the task set has no task '{sorted(unknown)[0]}'")
    for task in taskset["tasks"]:
        if task["id"] in args.task:
            continue
        for repeat in range(1, args.repeats + 1):
            replies = []
            for turn in range(len(task["turns"])):
                name = file_name(args, task, turn, repeat)
                request, text = text_of_file(os.path.join(args.out, name))
                if request != {**request_body(prompt, task, turn, replies, args)[1], "stream": True}:
                    raise RecordError(f"{name} answers another request than this task set and prompt make; "
                                      f"add --task {task['id']}")
                replies.append(text)


def check_manifest(args, manifest):
    """With --task: only tasks may have changed since the rest was recorded."""
    old, _ = read_json(os.path.join(args.out, "manifest.json"))
    for key in ("taskset", "prompt_version", "prompt_sha256", "model_asked", "weights_sha256", "sampling"):
        if old.get(key) != manifest.get(key):
            raise RecordError(f"'{key}' of the recording in {args.out} differs; record all tasks")


def file_name(args, task, turn, repeat):
    return f"{task['id']}.{turn + 1}" + (f".r{repeat}" if args.repeats > 1 else "") + ".jsonl"


def record(args):
    url = urllib.parse.urlsplit(args.endpoint)
    if url.scheme != "http" or url.hostname not in LOOPBACK:
        raise RecordError("the endpoint must be an http:// address on this machine (127.0.0.1, ::1 or localhost)")
    endpoint = (url.hostname, url.port or 80, url.path.rstrip("/") or "/v1")
    taskset, taskset_sha = read_json(os.path.join(args.taskset, "taskset.json"))
    prompt, prompt_sha = read_json(args.prompt)
    os.makedirs(args.out, exist_ok=True)
    manifest = {
        "schema": 1, "taskset": taskset["name"], "taskset_sha256": taskset_sha,
        "prompt_version": prompt["version"], "prompt_sha256": prompt_sha,
        "model_asked": args.model, "weights_version": args.weights_version,
        "weights_sha256": sha256_of_file(args.weights) if args.weights else None,
        "sampling": {"temperature": args.temperature, "max_tokens": "per turn"},
        "context_limit": taskset.get("context_limit"),
        "observed_on": {"host": "recorder", "cpu": cpu_model(), "cores": os.cpu_count(), "gpu": args.gpu,
                        "server": args.server, "when_utc": utc_now()},
        "notes": args.notes, "dumps": args.dump, "files": []}
    manifest = {k: v for k, v in manifest.items() if v is not None}
    if args.task:
        check_manifest(args, manifest)
        check_kept(args, prompt, taskset)
    for repeat in range(1, args.repeats + 1):
        for task in taskset["tasks"]:
            replies = []
            for turn in range(len(task["turns"])):
                name = file_name(args, task, turn, repeat)
                manifest["files"].append({"file": name, "task": task["id"], "turn": turn + 1, "repeat": repeat})
                if args.task and task["id"] not in args.task:
                    continue
                text, finish, usage, lines = record_turn(args, endpoint, prompt, task, turn, replies)
                replies.append(text)
                with open(os.path.join(args.out, name), "w", encoding="utf-8") as f:
                    f.write("\n".join(lines) + "\n")
                print(f"{name}  {finish}  {usage or 'no usage'}\n    {text.strip()}", file=sys.stderr, flush=True)
    write_manifest(os.path.join(args.out, "manifest.json"), manifest)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog="\n\n".join(__doc__.split("\n\n")[1:]),
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--taskset", required=True, metavar="DIR", help="folder that holds taskset.json")
    p.add_argument("--prompt", required=True, metavar="FILE", help="prompt version, a JSON file")
    p.add_argument("--endpoint", default="http://127.0.0.1:8000/v1", metavar="URL", help="default: %(default)s")
    p.add_argument("--model", required=True, help="model name to ask for")
    p.add_argument("--out", required=True, metavar="DIR", help="folder to write; created when missing")
    p.add_argument("--task", action="append", metavar="ID", help="record only this task and keep the other files of "
                   "an existing recording in --out; repeatable")
    p.add_argument("--weights", metavar="FILE", help="weights file that the server runs; its SHA-256 is kept")
    p.add_argument("--weights-version", metavar="TEXT", help="name of these weights, for people")
    p.add_argument("--server", default="unknown", metavar="TEXT", help="name and version of the server")
    p.add_argument("--gpu", default="none", metavar="TEXT", help="accelerator that the server uses; default: none")
    p.add_argument("--temperature", type=float, default=0, help="default: 0")
    p.add_argument("--max-tokens", type=int, default=48, metavar="N", help="for turns that name no limit; default: 48")
    p.add_argument("--repeats", type=int, default=1, metavar="N", help="record the whole set N times; default: 1")
    p.add_argument("--timeout", type=float, default=120, metavar="S", help="seconds for one request; default: 120")
    p.add_argument("--cold", action="store_true", help="send a request of one token before each, so that no prompt "
                   "cache of the server changes its times or, at near ties, its words")
    p.add_argument("--dump", action="append", metavar="FILE", help="attention dump to name in the manifest; repeatable")
    p.add_argument("--notes", metavar="TEXT", help="a sentence for the manifest")
    args = p.parse_args()
    try:
        record(args)
    except (RecordError, OSError, ValueError, http.client.HTTPException) as e:
        sys.exit(f"record_replies: {e}")


if __name__ == "__main__":
    main()

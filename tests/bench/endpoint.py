"""endpoint.py BUILD [options]: see endpoint.sh, which builds and calls this.

Each row takes turns over the clients: the floor (endpoint_floor.c: reads, and parses nothing), and tare. A turn is a mock server of its own and a client; the clients' figures are compared with the server's log.
"""
import argparse
import json
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from endpoint_peers import AIPerf, GuideLLM, quantile

FIRST_MS = 20


class Turn:
    """One client on one mock server: what it took, and the server's log."""

    def __init__(self, bench, client, streams, each, n, gap_ms, first_ms=FIRST_MS, wants_times=False):
        self.streams, self.each, self.n, self.gap_ms, self.first_ms = streams, each, n, gap_ms, first_ms
        self.tmp = tempfile.mkdtemp(dir=bench.tmp)
        log = os.path.join(self.tmp, "sent.jsonl")
        spec = f"n={n},first_ms={first_ms},gap_ms={gap_ms},usage=last"
        server = subprocess.Popen([bench.tool("tests/mock_server"), "--spec", spec, "--log", log],
                                  stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().strip()
            self.client = client
            command = client.command(self, url, wants_times)
            self.begin_ns = time.monotonic_ns()
            self.words = bench.run(command, self)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()
        lines = [json.loads(line) for line in open(log)]
        self.server, self.sent = lines[-1], {s["request"]: s for s in lines[:-1] if s["sent_ns"]}

    def share(self):
        """Of the schedule's tokens a second: each stream's replies follow one another without a pause."""
        ideal_s = self.each * (self.first_ms + (self.n - 1) * self.gap_ms) / 1e3
        done = sum(len(s["sent_ns"]) for s in self.sent.values())
        return done / (self.streams * self.each * self.n) * ideal_s / self.client.elapsed_s(self)

    def server_elapsed_s(self):
        first = min(s["received_ns"] for s in self.sent.values())
        return (max(s["sent_ns"][-1] for s in self.sent.values()) - first) / 1e9

    def start_s(self):
        return (min(s["received_ns"] for s in self.sent.values()) - self.begin_ns) / 1e9


class Floor:
    name = "floor"

    def __init__(self, bench):
        self.bench = bench

    def command(self, turn, url, wants_times):
        turn.out = os.path.join(turn.tmp, "read.jsonl")
        return [self.bench.tool("tests/endpoint_floor"), url, str(turn.streams), str(turn.each), turn.out]

    def lines(self, turn):
        return [json.loads(line) for line in open(turn.out)]

    def elapsed_s(self, turn):
        lines = self.lines(turn)
        return (max(x["read_ns"][-1] for x in lines) - min(x["sent_ns"] for x in lines)) / 1e9

    def times(self, turn):
        """(request, when it was sent, when each token came): the first event is the role's."""
        return [(x["request"], x["sent_ns"], x["read_ns"][1:turn.n + 1]) for x in self.lines(turn)]


class Tare:
    name = "tare"

    def __init__(self, bench):
        self.bench = bench

    def command(self, turn, url, wants_times):
        tasks = [{"id": f"t{i}", "turns": [{"user": f"Say something about {i}."}]} for i in range(turn.streams)]
        with open(os.path.join(turn.tmp, "taskset.json"), "w") as f:
            json.dump({"schema": 1, "name": "bench", "version": "1", "description": "-", "tasks": tasks}, f)
        turn.out = os.path.join(turn.tmp, "run.h5")
        command = [self.bench.tool("tare"), "run", "--taskset", turn.tmp, "--endpoint", url, "--model", "mock",
                   "--concurrency", str(turn.streams), "--repeat", str(turn.each), "--max-tokens", str(turn.n),
                   "--count-tokens", "none", "-o", turn.out]
        return command + (["--export-recording", os.path.join(turn.tmp, "recording")] if wants_times else [])

    def load(self, turn):
        text = subprocess.run([self.bench.tool("tare"), "inspect", "--json", turn.out], stdout=subprocess.PIPE,
                              check=True).stdout
        return json.loads(text)["load"]

    def elapsed_s(self, turn):
        return self.load(turn)["elapsed_s"]

    def times(self, turn):
        return [exchange_times(os.path.join(turn.tmp, "recording", f)) for f in
                os.listdir(os.path.join(turn.tmp, "recording")) if f.endswith(".jsonl")]


def exchange_times(path):
    """The same of a recording's file: a read brings as many tokens as it has deltas with content."""
    import base64
    with open(path) as f:
        meta = json.loads(f.readline())["meta"]
        reads = [(e["t_ns"], base64.b64decode(e["b64"])) for e in map(json.loads, f)]
    request = int(re.search(rb'"id":"[a-z]+-mock-(\d+)"', b"".join(b for _, b in reads)).group(1))
    times = [t for t, b in reads for _ in range(b.count(b'"delta":{"content":"'))]
    return request, meta["sent_ns"], times


def errors(turn):
    """ms: of the time to the first token, and of each gap, as the client has them against what was really sent."""
    first, gaps = [], []
    for request, sent_ns, came in turn.client.times(turn):
        truth = turn.sent[request]
        first.append((came[0] - sent_ns - (truth["sent_ns"][0] - truth["received_ns"])) / 1e6)
        gaps += [abs((b - a) - (d - c)) / 1e6 for a, b, c, d in
                 zip(came, came[1:], truth["sent_ns"], truth["sent_ns"][1:])]
    return quantile([abs(x) for x in first], 0.5), quantile([abs(x) for x in first], 0.99), quantile(gaps, 0.5)


class Bench:
    def __init__(self, args):
        self.build, self.rounds, self.rows, self.n_missed = args.build, args.rounds, args.rows, 0
        self.floor, self.tare = Floor(self), Tare(self)
        self.peers = [peer(program) for peer, program in ((GuideLLM, args.guidellm), (AIPerf, args.aiperf)) if program]
        self.clients = [self.floor, self.tare] + self.peers

    def tool(self, name):
        return os.path.join(self.build, name)

    def run(self, command, turn):
        with open(os.path.join(turn.tmp, "words"), "w+") as words:
            process = subprocess.Popen(command, stdout=words, stderr=words, stdin=subprocess.DEVNULL,
                                       env={**os.environ, **getattr(turn.client, "env", {})})
            _, status, used = os.wait4(process.pid, 0)
            words.seek(0)
            text = words.read()
        if status:
            sys.exit(f"{' '.join(command)}\n{text}\nendpoint.py: the client failed")
        turn.cpu_s, turn.rss_mb = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        return text

    def turns(self, clients, *shape, rounds=None, **more):
        """{client's name: its turns}, taken in turns."""
        all_turns = {c.name: [] for c in clients}
        for _ in range(rounds or self.rounds):
            for c in clients:
                all_turns[c.name].append(Turn(self, c, *shape, **more))
        return all_turns

    def say(self, what, values, aim="", holds=None):
        """values: {client's name: text}."""
        verdict = "" if holds is None else "met" if holds else "MISSED"
        self.n_missed += holds is False
        cells = " | ".join(values.get(c.name, "-") for c in self.clients)
        print(f"| {what} | {cells} | {aim} | {verdict} |", flush=True)

    def head(self):
        names = [c.name for c in self.clients]
        print("| what | " + " | ".join(names) + " | aimed at, of tare | |\n|" + " --- |" * (len(names) + 3), flush=True)


def row_cpu(b):
    short = b.turns(b.clients, 8, 1, 500, 1)
    long = b.turns(b.clients, 8, 5, 1000, 1)
    k = (8 * 5 * 1000 - 8 * 500) / 1000
    cost = {name: statistics.median((y.cpu_s - x.cpu_s) / k for x, y in zip(short[name], long[name])) for name in short}
    b.say("CPU s per 1,000 tokens, 8 streams at 1 ms", {n: f"{c:.4f}" for n, c in cost.items()}, "≤ 0.012",
          cost["tare"] <= 0.012)
    b.say("… over the floor's", {"tare": f"{cost['tare'] / cost['floor']:.2f}×"})
    for p in b.peers:
        ratio = cost[p.name] / cost["tare"]
        b.say(f"… {p.name}'s over tare's", {p.name: f"{ratio:.1f}×"}, "≥ 20×", ratio >= 20)
    loads = [b.tare.load(t) for t in long["tare"]]
    share = statistics.median(x["journal_cpu_s"] / x["cpu_s"] for x in loads)
    b.say("the journal's share of that CPU", {"tare": f"{share:.1%}"}, "< 5 %", share < 0.05)


def row_share(b, streams, each, n, gap_ms, clients):
    turns = b.turns(clients, streams, each, n, gap_ms)
    share = {name: statistics.median(t.share() for t in of) for name, of in turns.items()}
    b.say(f"schedule kept, {streams} streams at {gap_ms} ms", {n: f"{s:.1%}" for n, s in share.items()}, "≥ 95 %",
          share["tare"] >= 0.95)
    loads = [b.tare.load(t) for t in turns["tare"]]
    lag = statistics.median(x["lag_p99_ms"] for x in loads)
    reached = statistics.median(x["concurrency_reached"] for x in loads)
    marked = sum("latencies are not judged" in t.words or "decide nothing" in t.words for t in turns["tare"])
    b.say("… its own lag P99; streams reached; marked as held up by itself",
          {"tare": f"{lag:.2f} ms; {reached:.0f}; {marked} of {len(loads)}"})


def row_times(b):
    turns = b.turns(b.clients, 32, 6, 300, 1, wants_times=True)
    found = {name: [errors(t) if hasattr(t.client, "times") else t.client.errors(t) for t in of]
             for name, of in turns.items()}
    middle = {name: [statistics.median(e[i] for e in of) for i in range(3)] for name, of in found.items()}
    b.say("TTFT error P50, ms, 32 streams at 1 ms", {n: f"{e[0]:.2f}" for n, e in middle.items()}, "≤ 0.6",
          middle["tare"][0] <= 0.6)
    b.say("TTFT error P99, ms", {n: f"{e[1]:.2f}" for n, e in middle.items()}, "≤ 10", middle["tare"][1] <= 10)
    b.say("gap error P50, ms", {n: f"{e[2]:.4f}" for n, e in middle.items()}, "≤ 0.02", middle["tare"][2] <= 0.02)


def row_start(b):
    turns = b.turns(b.clients[:2], 1, 1, 2, 1, rounds=4 * b.rounds)
    for p in b.peers:
        turns[p.name] = [Turn(b, p, 1, 1, 2, 1)]
    start = {name: statistics.median(t.start_s() for t in of) for name, of in turns.items()}
    b.say("start to first request received, s", {n: f"{s:.3f}" for n, s in start.items()}, "≤ 0.1",
          start["tare"] <= 0.1)
    b.say("… CPU s of the whole of it", {n: f"{statistics.median(t.cpu_s for t in of):.3f}" for n, of in turns.items()})


def row_streams(b):
    turns = b.turns([b.floor, b.tare], 4000, 1, 16, 500, rounds=1, first_ms=3000)
    peak = {name: of[0].server["peak_streams"] for name, of in turns.items()}
    rss = {name: of[0].rss_mb for name, of in turns.items()}
    b.say("streams at once", {n: str(p) for n, p in peak.items()}, "≥ 4,000", peak["tare"] >= 4000)
    b.say("… peak memory, MB", {n: f"{m:.0f}" for n, m in rss.items()}, "< 300", rss["tare"] < 300)


ROWS = {
    "cpu": row_cpu,
    "share64": lambda b: row_share(b, 64, 4, 500, 1, b.clients),
    "share256": lambda b: row_share(b, 256, 3, 80, 20, b.clients),
    "share1000": lambda b: row_share(b, 1000, 2, 40, 100, b.clients[:2]),
    "times": row_times,
    "start": row_start,
    "streams": row_streams,
}


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=lambda text: text.split(","), default=list(ROWS))
    parser.add_argument("--guidellm")
    parser.add_argument("--aiperf")
    args = parser.parse_args()
    unknown = [r for r in args.rows if r not in ROWS]
    if unknown or args.rounds < 1:
        parser.error(f"no such row: {', '.join(unknown)}" if unknown else "--rounds must be at least 1")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # the mock server's side of 4,000 streams
    with tempfile.TemporaryDirectory() as tmp:
        b = Bench(args)
        b.tmp = tmp
        b.head()
        for name in args.rows:
            ROWS[name](b)
    if not b.peers:
        print("\nGuideLLM and AIPerf: not timed; name their programs with --guidellm and --aiperf")
    if b.n_missed:
        print(f"\n{b.n_missed} of the aims MISSED")


main()

"""endpoint_peers.py - GuideLLM and AIPerf as clients of endpoint.py: how they are called, and what they report.

Both are asked for chat streams at a fixed concurrency and for each request's own figures; their progress is turned off.
"""
import json
import os


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else float("nan")


class GuideLLM:
    name = "GuideLLM"

    def __init__(self, program):
        self.program, self.env = program, {"HF_HUB_OFFLINE": "1"}

    def command(self, turn, url, wants_times):
        n_requests = turn.streams * turn.each
        data = os.path.join(turn.tmp, "data.jsonl")
        with open(data, "w") as f:
            for i in range(n_requests):
                print(json.dumps({"prompt": f"Say something about {i}.", "output_tokens_count": turn.n}), file=f)
        turn.out = os.path.join(turn.tmp, "guidellm.json")
        return [self.program, "run", "--backend", f"kind=openai_http,target={url.removesuffix('/v1')},model=mock",
                "--profile", f"kind=concurrent,streams={turn.streams}", "--constraint",
                f"kind=max_requests,count={n_requests}", "--data", f"kind=json_file,path={data}", "--output",
                f"kind=json,path={turn.out}", "--disable-console"]

    def requests(self, turn):
        with open(turn.out) as f:
            return json.load(f)["benchmarks"][0]["requests"]["successful"]

    def elapsed_s(self, turn):
        rs = self.requests(turn)
        return max(r["request_end_time"] for r in rs) - min(r["request_start_time"] for r in rs)

    def errors(self, turn):
        """As endpoint.py's errors(); single gaps are not kept, so that their error is that of a request's mean."""
        first, gaps = [], []
        for r in self.requests(turn):
            truth = turn.sent[int(r["response_id"].rsplit("-", 1)[1])]
            first.append(abs(r["time_to_first_token_ms"] - (truth["sent_ns"][0] - truth["received_ns"]) / 1e6))
            mean = (truth["sent_ns"][-1] - truth["sent_ns"][0]) / (len(truth["sent_ns"]) - 1) / 1e6
            gaps.append(abs(r["inter_token_latency_ms"] - mean))
        return quantile(first, 0.5), quantile(first, 0.99), quantile(gaps, 0.5)


class AIPerf:
    name = "AIPerf"

    def __init__(self, program):
        self.program, self.env = program, {}

    def command(self, turn, url, wants_times):
        tokenizer, data = os.path.join(turn.tmp, "tokenizer"), os.path.join(turn.tmp, "data.jsonl")
        os.mkdir(tokenizer)
        with open(os.path.join(tokenizer, "tokenizer.json"), "w") as f:  # prompts are counted by words
            json.dump({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
                       "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None,
                       "model": {"type": "WordLevel", "vocab": {"<unk>": 0}, "unk_token": "<unk>"}}, f)
        with open(os.path.join(tokenizer, "tokenizer_config.json"), "w") as f:
            json.dump({"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>", "eos_token": "<unk>"}, f)
        with open(data, "w") as f:
            for i in range(turn.streams * turn.each):
                print(json.dumps({"text": f"Say something about {i}."}), file=f)
        turn.out = os.path.join(turn.tmp, "aiperf")
        return [self.program, "profile", "--model", "mock", "--url", url.removesuffix("/v1"), "--endpoint-type", "chat",
                "--streaming", "--concurrency", str(turn.streams), "--request-count", str(turn.streams * turn.each),
                "--input-file", data, "--custom-dataset-type", "single_turn", "--tokenizer", tokenizer,
                "--use-server-token-count", "--ui", "none", "--extra-inputs", f"max_tokens:{turn.n}",
                "--artifact-dir", turn.out, "--export-level", "records"]

    def requests(self, turn):
        with open(os.path.join(turn.out, "profile_export.jsonl")) as f:
            return sorted(map(json.loads, f), key=lambda r: r["metadata"]["request_start_ns"])

    def elapsed_s(self, turn):
        rs = [r["metadata"] for r in self.requests(turn)]
        return (max(r["request_end_ns"] for r in rs) - min(r["request_start_ns"] for r in rs)) / 1e9

    def errors(self, turn):
        """As endpoint.py's errors(); no reply's id is kept, so requests are told apart by the order of their begin."""
        first, gaps = [], []
        truths = sorted(turn.sent.values(), key=lambda s: s["received_ns"])
        for r, truth in zip(self.requests(turn), truths):
            first.append(abs(r["metrics"]["time_to_first_token"]["value"] -
                             (truth["sent_ns"][0] - truth["received_ns"]) / 1e6))
            gaps += [abs(g - (b - a) / 1e6) for g, a, b in zip(r["metrics"]["inter_chunk_latency"]["value"],
                                                                truth["sent_ns"], truth["sent_ns"][1:])]
        return quantile(first, 0.5), quantile(first, 0.99), quantile(gaps, 0.5)

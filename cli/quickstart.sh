#!/usr/bin/env bash
# From a bare Debian 12 machine to a verdict and a page: installs what is missing, builds build/release/tare, and weighs
# a candidate prompt against the accepted one on recorded input. No model, network or GPU is needed after the build.
#   bash cli/quickstart.sh [--no-install] [FOLDER]      FOLDER takes the outputs (default: out)
set -euo pipefail
cd "$(dirname "$0")/.."

install=1
if [ "${1:-}" = --no-install ]; then
    install=0
    shift
fi
out=${1:-out}
case $out in
    -*)
        echo "quickstart: unknown option '$out'; usage: bash cli/quickstart.sh [--no-install] [FOLDER]" >&2
        exit 2
        ;;
esac
smoke=tasksets/smoke

[ $install -eq 0 ] || bash cli/install.sh
echo "== build build/release/tare"
mkdir -p build "$out"
{
    cmake -G Ninja -S . -B build/release -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF &&
        cmake --build build/release
} >build/quickstart.log 2>&1 || {
    tail -n 40 build/quickstart.log >&2
    echo "quickstart: the build failed; all of its output is in build/quickstart.log" >&2
    exit 4
}
grep -E '^-- tare ' build/quickstart.log || true
PATH=$PWD/build/release:$PATH

# Shows a command and runs it; the caller sees its exit code.
show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

say() {
    printf '\n%s\n' "$*"
}

say "== 1. The same tasks under the accepted prompt v1 and under the candidate v2: recorded replies and attention become run files."
show tare run --taskset $smoke --prompt $smoke/prompts/v1.json --replay $smoke/recording/v1 \
    --dump $smoke/recording/v1/attention.h5 -o "$out/v1.h5" --quiet
show tare run --taskset $smoke --prompt $smoke/prompts/v2.json --replay $smoke/recording/v2 \
    --dump $smoke/recording/v2/attention.h5 -o "$out/v2.h5"

# The head of a comparison, as far as what changed; all of it is in the file that -o names.
head_only() {
    awk '!done { print } /^pairs/ { done = 1 }'
}

# Of a written report the numbered sentences under "findings", the first three.
strongest() {
    awk '/^findings/ { inside = 1; next }
         inside && /^ *[0-9]+\. / { n++ }
         inside && (n > 3 || /^$/ || /^ *and [0-9]+ more/) { exit }
         inside { print }' "$1"
}

say "== 2. What moved, against the shipped baseline (the accepted run of prompt v1)?"
show tare diff smoke "$out/v2.h5" -o "$out/diff.txt" "$out/diff.md" | head_only
echo "(all of it: $out/diff.txt)"

say "== 3. May it go out? The gate decides by the shipped policy; its exit code is the verdict."
code=0
show tare gate "$out/v1.h5" --baseline smoke | head -n 4 || code=$?
[ $code -le 3 ] || exit $code
code=0
show tare gate "$out/v2.h5" --baseline smoke -o "$out/report.html" "$out/report.txt" || code=$?
case $code in
    0) say "Exit code 0: nothing that the policy guards got worse." ;;
    1) say "Exit code 1: a regression. In CI this stops the release; here it is what the demonstration shows." ;;
    3) say "Exit code 3: no verdict, and the text above says why. In CI this stops the release too." ;;
    *) exit $code ;;
esac

say "== 4. What a caught regression looks like: the accepted prompt, but one attention head sharpened."
show tare run --taskset $smoke --prompt $smoke/prompts/v1.json --replay $smoke/recording/sharpened \
    --dump $smoke/recording/sharpened/attention.h5 -o "$out/sharpened.h5" --quiet
caught=0
show tare gate "$out/sharpened.h5" --baseline smoke -o "$out/sharpened.html" "$out/sharpened.txt" | head_only || caught=$?
[ $caught -le 3 ] || exit $caught
strongest "$out/sharpened.txt"
say "Exit code $caught: 1 means caught."

say "== The verdict on v2, and its three strongest findings"
head -n 1 "$out/report.txt"
strongest "$out/report.txt"
say "The page:          $(realpath "$out/report.html")"
echo "The caught head:   $(realpath "$out/sharpened.html")"
echo "Next:              tare help, tare explain, README.md (tare is build/release/tare)"

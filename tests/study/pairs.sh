#!/usr/bin/env bash
# False alarms of the whole gate on your own runs of one version: builds release, judges every run against every other
# and sets of tasks drawn from them. Opt-in: it needs runs that were really measured several times.
#   bash tests/study/pairs.sh [--policy FILE] [--seed N] [--sets N] RUN RUN…      default: default policy, 1, 1000
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)

policy=$root/baselines/policy_default.json seed=1 sets=1000
while [ $# -gt 0 ]; do
    case $1 in
        --policy) policy=${2:?--policy needs a file}; shift 2 ;;
        --seed) seed=${2:?--seed needs a number}; shift 2 ;;
        --sets) sets=${2:?--sets needs a number}; shift 2 ;;
        -*)
            echo "pairs.sh: unknown option '$1'" >&2
            exit 2
            ;;
        *) break ;;
    esac
done
mkdir -p "$root/build"
cmake -G Ninja -S "$root" -B "$root/build/release" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON \
    >"$root/build/study.log" 2>&1 || { cat "$root/build/study.log" >&2; exit 1; }
cmake --build "$root/build/release" --target pairs_study >"$root/build/study.log" 2>&1 ||
    { cat "$root/build/study.log" >&2; exit 1; }
"$root/build/release/tests/pairs_study" "$policy" "$seed" "$sets" "$@"

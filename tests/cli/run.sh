#!/usr/bin/env bash
# Golden runs of the program: tests/cli/<case>/ holds cmd (bash), stdout, stderr, exit, and, where they are needed,
# files/ (copied into the folder where cmd runs) and creates (the files that the run must leave behind; none without).
#   bash tests/cli/run.sh TARE [--update] [CASE…]
# cmd sees $TARE, the program, $MOCK, the endpoint of tests/mock, and $ROOT, the tree; tasksets is a link to the tree's.
# Output is compared byte for byte: what would differ between machines is kept out by --reproducible or by cmd itself.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$here/../.." && pwd)
TARE=$(realpath "${1:?the program to test}")
shift
update=0
if [ "${1:-}" = --update ]; then
    update=1
    shift
fi
MOCK=${MOCK:-$(dirname "$TARE")/tests/mock_server}
export ROOT TARE MOCK LC_ALL=C
unset SOURCE_DATE_EPOCH NO_COLOR

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# What lies in the folder, but for links: a line a file, folders with a slash.
listing() {
    (cd "$1" && find . -mindepth 1 \( -type d -printf '%P/\n' \) -o \( -type f -printf '%P\n' \) | sort)
}

compare() { # case, what: $tmp/got/what against the case's
    local want=$here/$1/$2 got=$tmp/got/$2
    if [ $update -eq 1 ]; then
        if [ "$2" = creates ] && [ ! -s "$got" ]; then rm -f "$want"; else cp "$got" "$want"; fi
        return 0
    fi
    [ -e "$want" ] || want=/dev/null
    diff -u --label "$1/$2 as it must be" --label "$1/$2 as it is" "$want" "$got"
}

run_case() {
    local name=$1 work=$tmp/$1 bad=0 what
    rm -rf "$tmp/got" && mkdir -p "$work" "$tmp/got"
    [ -d "$here/$name/files" ] && cp -R "$here/$name/files/." "$work"
    ln -s "$ROOT/tasksets" "$work/tasksets"
    listing "$work" >"$tmp/before"
    (cd "$work" && bash "$here/$name/cmd") >"$tmp/got/stdout" 2>"$tmp/got/stderr" </dev/null
    echo $? >"$tmp/got/exit"
    listing "$work" | diff "$tmp/before" - | sed -n 's/^> //p; s/^< /gone: /p' >"$tmp/got/creates"
    for what in exit stderr stdout creates; do
        compare "$name" $what || bad=1
    done
    return $bad
}

[ $# -gt 0 ] || set -- $(cd "$here" && ls -d */ | tr -d /)
failed=0
for name in "$@"; do
    run_case "$name" || { echo "FAILED: tests/cli/$name" && failed=$((failed + 1)); }
done
[ $failed -eq 0 ] || echo "$failed failed; 'bash tests/cli/run.sh TARE --update' rewrites what is expected" >&2
[ $failed -eq 0 ]

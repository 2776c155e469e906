#!/usr/bin/env bash
# The tree's rules: direction of includes, no include loops, file sizes, banned calls, a README in every room.
set -u
cd "$(dirname "$0")/.."
bad=0

say() {
    echo "check_tree: $*" >&2
    bad=1
}

forbid() { # folder, pattern of roots that it may not include
    local hits
    hits=$(grep -rnE "^#include \"($2)/" "$1" --include='*.[ch]' --include='*.cu' --include='*.cuh' 2>/dev/null)
    [ -z "$hits" ] || say "$1 includes against the direction of the rooms:"$'\n'"$hits"
}
forbid core/base 'core/(model|io|client|metrics|stats|gate)|kernels|reports|cli|tests'
forbid kernels 'core/(model|io|client|metrics|stats|gate)|reports|cli|tests'
forbid core/model 'core/(io|stats|client|metrics|gate)'
forbid core/io 'core/(stats|client|metrics|gate)'
forbid core/stats 'core/(io|client|metrics|gate)'
forbid core/client 'core/(stats|metrics|gate)'
forbid core/metrics 'core/gate'
forbid core 'reports|cli|tests'
forbid reports 'kernels|core/(io|client|metrics|stats)|cli|tests'
forbid cli 'tests'

sources=$(git ls-files -co --exclude-standard -- '*.c' '*.h' '*.cu' '*.cuh' '*.sh' '*.py')
for f in $sources; do
    [ -f "$f" ] || continue
    lines=$(wc -l <"$f")
    [ "$lines" -le 500 ] || say "$f has $lines lines: 500 are the limit"
done

# Loops: tsort complains of them.
loops=$(for f in $(git ls-files -co --exclude-standard -- '*.h' '*.cuh'); do
    [ -f "$f" ] && sed -nE "s|^#include \"([^\"]+)\".*|$f \1|p" "$f"
done | tsort 2>&1 >/dev/null)
[ -z "$loops" ] || say "headers include each other in a loop:"$'\n'"$loops"

banned='\b(atoi|atol|atof|sscanf|sprintf|vsprintf|strcpy|strcat|strtok|gets|rand|srand|system|alloca|setlocale)\('
hits=$(grep -nE "$banned" $(git ls-files -co --exclude-standard -- 'core/*.[ch]' 'kernels/*.[ch]' 'reports/*.[ch]' 'cli/*.[ch]') /dev/null)
[ -z "$hits" ] || say "banned calls:"$'\n'"$hits"

hits=$(grep -nE '(^|[^:"])//' $(git ls-files -co --exclude-standard -- 'core/*.[ch]' 'reports/*.[ch]' 'cli/*.[ch]') /dev/null | grep -vE 'https?://')
[ -z "$hits" ] || say "// comments are for scratch:"$'\n'"$hits"

names=$(git ls-files -co --exclude-standard -- '*.c' '*.cu' | xargs -n1 basename 2>/dev/null | sort | uniq -d)
[ -z "$names" ] || say "file names are not unique: $names"

for room in cli core kernels reports tasksets baselines tests; do
    [ -f $room/README.md ] || { say "$room has no README.md"; continue; }
    [ "$(wc -l <$room/README.md)" -le 40 ] || say "$room/README.md is longer than 40 lines"
done

[ $bad -eq 0 ] && echo "check_tree: the tree keeps its rules"
exit $bad

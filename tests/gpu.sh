#!/usr/bin/env bash
# Builds and runs everything that needs a GPU, with the CUDA toolkit and a C compiler alone; JSON on stdout.
#   bash tests/gpu.sh              correctness, compute-sanitizer and speed on the device, within 6 minutes
#   bash tests/gpu.sh --harness    the same program on the CPU harness (needs a C++ compiler): small cases, no real speed
#   bash tests/gpu.sh --report     registers, shared memory and spills of every kernel for three architectures, and the
#                                  instructions of its code where cuobjdump is found; no device needed
# Exit codes: 0 all passed; 1 a case, the sanitizer or a spill failed; 2 it cannot be built; 3 there is no GPU.
set -uo pipefail
cd "$(dirname "$0")/.."

mode=${1:-device}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || nvcc=/usr/local/cuda/bin/nvcc

fail() { # code, reason
    printf '{"error": "%s"}\n' "$(printf '%s' "$2" | tr '"\n\\' "' /" | cut -c1-400)"
    exit "$1"
}

c_flags=(-std=c11 -O2 -I. -D_GNU_SOURCE -ffp-contract=off -fno-math-errno)
build_c() {
    local source extra
    for source in kernels/*.c core/base/{error,mem,similar,rng}.c tests/ref/*.c tests/support/{kernel_cases,close}.c \
        tests/gpu/*.c; do
        extra=()
        case $source in
            *_avx2.c) extra=(-mavx2 -mfma -mf16c) ;;
            *_avx512.c) extra=(-mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl) ;;
        esac
        case "$(uname -m) $source" in
            x86_64*) ;;
            *_avx2.c | *_avx512.c) continue ;;
        esac
        "$cc" "${c_flags[@]}" "${extra[@]}" -c "$source" -o "$work/$(basename "$source").o" || return 1
    done
}

build_harness() {
    local name flags=(-std=c++17 -O2 -I. -D_GNU_SOURCE -ffp-contract=off -U_FORTIFY_SOURCE)
    build_c || return 1
    for name in cuda_harness gemm_host; do
        "${CXX:-c++}" "${flags[@]}" -c "tests/support/$name.cpp" -o "$work/$name.o" || return 1
    done
    for name in row_entropy qk_entropy maxt_count device_time backend_cuda; do
        "${CXX:-c++}" "${flags[@]}" -Wno-unknown-pragmas -x c++ -include tests/support/cuda_harness.h \
            -c "kernels/$name.cu" -o "$work/$name.o" || return 1
    done
    "${CXX:-c++}" "$work"/*.o -lpthread -lm -o "$work/gpu_check"
}

build_device() {
    local arch source lib
    build_c || return 1
    arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
    lib=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")/lib64
    for source in kernels/*.cu; do
        "$nvcc" -std=c++17 -O3 -lineinfo "-arch=sm_${arch:-90}" -I. -D_GNU_SOURCE "-DTARE_CUDA_LIB_DIR=\"$lib\"" \
            -Xcompiler=-fno-threadsafe-statics,-fno-exceptions -c "$source" -o "$work/$(basename "$source").o" &
    done
    for source in kernels/*.cu; do
        wait -n || return 1
    done
    "$nvcc" "$work"/*.o -lpthread -lm -ldl -o "$work/gpu_check"
}

sanitize() { # tool
    local log=$work/$1.log errors
    if ! command -v compute-sanitizer >/dev/null; then
        printf '{"errors": null, "reason": "compute-sanitizer was not found"}'
        return 0
    fi
    timeout 100 compute-sanitizer --tool "$1" --error-exitcode 9 "$work/gpu_check" correctness small >"$log" 2>&1
    case $? in
        124) printf '{"errors": null, "reason": "it took over 100 s"}' ;;
        *)
            errors=$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$log" | grep -oE '[0-9]+' | head -1)
            printf '{"errors": %s}' "${errors:-null}"
            [ "${errors:-1}" = 0 ]
            ;;
    esac
}

run() { # small or nothing
    local code=0 device correctness bandwidth memcheck=null racecheck=null
    device=$("$work/gpu_check" device) || fail 3 "no GPU: ${device//\"/}"
    correctness=$(timeout 150 "$work/gpu_check" correctness "$@") || code=1
    if [ "$mode" != --harness ]; then
        memcheck=$(sanitize memcheck) || code=1
        racecheck=$(sanitize racecheck) || code=1
    fi
    bandwidth=$(timeout 120 "$work/gpu_check" bandwidth "$@") || code=1
    printf '{\n  "device": %s,\n  "correctness": %s,\n  "memcheck": %s,\n  "racecheck": %s,\n  "bandwidth": %s,\n  "pass": %s\n}\n' \
        "$device" "${correctness:-null}" "$memcheck" "$racecheck" "${bandwidth:-null}" "$([ $code = 0 ] && echo true || echo false)"
    return $code
}

# One line of JSON per kernel: what ptxas says of it.
report() {
    local arch source code=0 first=1 sass
    printf '{\n  "kernels": ['
    for arch in 80 90 100; do
        for source in kernels/{row_entropy,qk_entropy,maxt_count}.cu; do
            "$nvcc" -std=c++17 -O3 "-arch=sm_$arch" -I. -D_GNU_SOURCE -Xptxas -v -cubin "$source" \
                -o "$work/$arch.$(basename "$source").cubin" >"$work/log" 2>&1 || fail 2 "$(tail -1 "$work/log")"
            sass=
            if command -v cuobjdump >/dev/null; then
                sass=$work/sass
                cuobjdump -sass "$work/$arch.$(basename "$source").cubin" >"$sass" 2>/dev/null || sass=
            fi
            awk -v arch="$arch" -v sass="$sass" -v first="$first" '
                function count(name,   line, inside, n) {
                    if (sass == "") return "null"
                    n = 0
                    while ((getline line < sass) > 0) {
                        if (line ~ /Function : /) inside = index(line, name) > 0
                        else if (inside && line ~ /\/\*[0-9a-f]+\*\/ +[A-Z@]/) n++
                    }
                    close(sass)
                    return n
                }
                /Compiling entry function/ { split($0, part, "\x27"); name = part[2] }
                /bytes stack frame/ { stores = $0; sub(/ bytes spill stores.*/, "", stores); sub(/.*, /, "", stores)
                    loads = $0; sub(/ bytes spill loads.*/, "", loads); sub(/.*, /, "", loads) }
                /Used [0-9]+ registers/ {
                    registers = $0; sub(/.*Used /, "", registers); sub(/ registers.*/, "", registers)
                    shared = 0
                    if ($0 ~ /bytes smem/) { shared = $0; sub(/ bytes smem.*/, "", shared); sub(/.* /, "", shared) }
                    printf "%s\n    {\"arch\": \"sm_%s\", \"kernel\": \"%s\", \"registers\": %d, \"shared_bytes\": %d, \"spill_bytes\": %d, \"instructions\": %s}", first ? "" : ",", arch, name, registers, shared, stores + loads, count(name)
                    first = 0
                    if (stores + loads > 0) bad = 1
                }
                END { exit bad }' "$work/log" || code=1
            first=0
        done
    done
    printf '\n  ],\n  "pass": %s\n}\n' "$([ $code = 0 ] && echo true || echo false)"
    return $code
}

case $mode in
    device)
        command -v "$nvcc" >/dev/null || fail 2 "nvcc was not found: install the CUDA toolkit, or set NVCC"
        build_device >"$work/build.log" 2>&1 || fail 2 "the build failed: $(grep -m1 -i error "$work/build.log")"
        run
        ;;
    --harness)
        build_harness >"$work/build.log" 2>&1 || fail 2 "the build failed: $(grep -m1 -i error "$work/build.log")"
        run small
        ;;
    --report)
        command -v "$nvcc" >/dev/null || fail 2 "nvcc was not found: install the CUDA toolkit, or set NVCC"
        report
        ;;
    *)
        echo "usage: tests/gpu.sh [--harness|--report]" >&2
        exit 2
        ;;
esac

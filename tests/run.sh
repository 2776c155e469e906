#!/usr/bin/env bash
# Configures, builds and tests one configuration in its own folder under build/.
#   bash tests/run.sh [release|debug|asan|clang|cuda-off]…      default: release
set -euo pipefail
cd "$(dirname "$0")/.."

# Two checkouts of the same sources share the compiler cache.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
jobs=$(nproc)
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)

run() {
    local name=$1 args=()
    case $name in
        release) args=(-DCMAKE_BUILD_TYPE=Release) ;;
        debug) args=(-DCMAKE_BUILD_TYPE=Debug) ;;
        asan) args=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DTARE_SANITIZE=ON -DTARE_CUDA=OFF) ;;
        clang) args=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang -DTARE_CUDA=OFF) ;;
        cuda-off) args=(-DCMAKE_BUILD_TYPE=Release -DTARE_CUDA=OFF) ;;
        *)
            echo "tests/run.sh: no configuration '$name'; one of release, debug, asan, clang, cuda-off" >&2
            exit 2
            ;;
    esac
    echo "== $name: configure, build, test in build/$name"
    cmake -G Ninja -S . -B "build/$name" -DTARE_WERROR=ON -DBUILD_TESTING=ON "${launcher[@]}" "${args[@]}"
    cmake --build "build/$name" -j "$jobs"
    ctest --test-dir "build/$name" --output-on-failure --no-tests=error -j "$jobs"
}

[ $# -gt 0 ] || set -- release
for name in "$@"; do
    run "$name"
done

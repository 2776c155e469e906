#!/usr/bin/env bash
# Installs the Debian packages that are missing: to build tare, and with --tests to test it too.
set -euo pipefail

need=(build-essential cmake ninja-build pkg-config ca-certificates
    libhdf5-dev zlib1g-dev libdeflate-dev libjansson-dev libssl-dev libutf8proc-dev libpcre2-dev librandom123-dev
    libxxhash-dev libcurl4-openssl-dev)
[ "${1:-}" = --tests ] && need+=(libcriterion-dev hdf5-tools gnuplot-nox python3 clang-format clang-tidy git libxml2-utils
    openssl)

missing=()
for p in "${need[@]}"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0

sudo=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "install: these Debian packages are missing and need root: ${missing[*]}" >&2
        echo "install: run as root: apt-get install ${missing[*]}" >&2
        exit 2
    }
    sudo=(sudo)
fi
echo "Installing Debian packages: ${missing[*]}"
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null

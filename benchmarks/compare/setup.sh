#!/bin/sh
# Installs what the optional rivals need beside Rust, and prints the features that can be built then.
#
#   benchmarks/compare/setup.sh            install (Debian packages; CMake from PyPI into a directory of its own)
#   benchmarks/compare/setup.sh --check    install nothing, only look
#
# The last line of the output is for cargo, for example `--features zeromq,aeron`; empty when neither can be built.
# Aeron's sources want CMake 3.30, which Debian 12 and 13 are behind: the build finds it by CMAKE, printed before it.
set -eu

tools=${HORUS_COMPARE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/horus-compare}

say() { echo "setup.sh: $*" >&2; }

if [ "${1:-}" != --check ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -q >&2 || say "apt-get update failed; trying with the old lists"
        # redis-server: gateway_benchmark starts one of its own. libzmq: ZeroMQ. libclang: the generator of Aeron's bindings. libbsd, uuid: Aeron's C sources.
        apt-get install -q -y --no-install-recommends libzmq3-dev pkg-config libclang-dev libbsd-dev uuid-dev g++ \
            redis-server python3-venv >&2 || say "apt-get install failed"
    else
        say "not root, or no apt-get: install libzmq3-dev pkg-config libclang-dev libbsd-dev uuid-dev g++ yourself"
    fi
    if [ ! -x "$tools/bin/cmake" ]; then
        if ! { python3 -m venv "$tools" && "$tools/bin/pip" install -q 'cmake>=3.30,<4' >&2; }; then
            say "no CMake from PyPI"
        fi
    fi
fi

features=
if pkg-config --exists libzmq 2>/dev/null; then
    features=zeromq
else
    say "without ZeroMQ: libzmq3-dev is missing"
fi
cmake=$tools/bin/cmake
if [ ! -x "$cmake" ]; then
    say "without Aeron: no CMake 3.30 in $tools"
elif ! ls /usr/lib/llvm-*/lib/libclang*.so* /usr/lib/*/libclang*.so* >/dev/null 2>&1; then
    say "without Aeron: libclang-dev is missing"
else
    features=${features:+$features,}aeron
    echo "CMAKE=$cmake"
fi
echo "${features:+--features $features}"

#!/bin/sh
# Installs what the rivals need beside Rust, and prints the features that can be built then.
#
#   benchmarks/compare/setup.sh            install (Debian packages; CMake from PyPI into a directory of its own)
#   benchmarks/compare/setup.sh --check    install nothing, only look
#
# No server begins to run by this: the programs here start servers of their own, on this machine's own addresses.
# The last line of the output is for cargo, for example `--features zeromq,aeron`; empty when neither can be built.
# Aeron's sources want CMake 3.30, which Debian 12 and 13 are behind: the build finds it by CMAKE, printed before it.
set -eu

tools=${HORUS_COMPARE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/horus-compare}

say() { echo "setup.sh: $*" >&2; }

# Debian's packages of servers start them at once, and at each boot; RabbitMQ and its epmd listen on the network then. Servers that were
# there before are left as they were.
policy=/usr/sbin/policy-rc.d
quiet_begin() {
    new=
    for server in redis-server rabbitmq-server erlang-base; do
        dpkg-query -W -f '${Status}' "$server" 2>/dev/null | grep -q ' installed$' || new="$new $server"
    done
    made=
    if [ ! -e "$policy" ]; then
        made=$policy
        trap 'rm -f "$policy"' EXIT INT TERM
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
    fi
}
quiet_end() {
    if [ -n "$made" ]; then
        rm -f "$made"
    fi
    if command -v systemctl >/dev/null && [ -d /run/systemd/system ]; then
        for server in $new; do
            case $server in
                erlang-base) units="epmd.socket epmd.service" ;; # by it Erlang's nodes find each other
                *) units=$server.service ;;
            esac
            for unit in $units; do
                systemctl disable -q "$unit" >&2 || say "cannot disable $unit"
            done
        done
    fi
}

if [ "${1:-}" != --check ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -q >&2 || say "apt-get update failed; trying with the old lists"
        quiet_begin
        # libzmq: ZeroMQ. libclang: the generator of Aeron's bindings. libbsd, uuid: Aeron's C sources.
        DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends libzmq3-dev pkg-config libclang-dev \
            libbsd-dev uuid-dev g++ redis-server rabbitmq-server python3-venv >&2 || say "apt-get install failed"
        quiet_end
    else
        say "not root, or no apt-get: install libzmq3-dev pkg-config libclang-dev libbsd-dev uuid-dev g++ redis-server rabbitmq-server yourself"
    fi
    if [ ! -x "$tools/bin/cmake" ]; then
        if ! { python3 -m venv "$tools" && "$tools/bin/pip" install -q 'cmake>=3.30,<4' >&2; }; then
            say "no CMake from PyPI"
        fi
    fi
fi

for server in redis-server /usr/lib/rabbitmq/bin/rabbitmq-server; do
    command -v "$server" >/dev/null || say "without ${server##*/}: it is not installed"
done
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

#!/bin/sh
# Tunes this Linux for real time, or takes it back: a front for 'horus tune', under the name that users of Hermes know.
#
#   sudo scripts/linux_tuning.sh setup [OPTIONS]     horus tune apply     (--dry-run, --isolate CPULIST, ...)
#   sudo scripts/linux_tuning.sh status              horus tune verify
#   sudo scripts/linux_tuning.sh bench [OPTIONS]     horus determinism    (10 s, printed; --duration TIME)
#   sudo scripts/linux_tuning.sh reset               horus tune revert
#
# The program is $HORUS, else the one that this repository builds, else the installed one. Where there is none, cargo builds it.
# Exit status: that of 'horus'; 2 for wrong usage, or when there is no program and it cannot be built.
set -eu

usage() { sed -n 's/^# \{0,1\}//; 2,7p' "$0" >&2; exit 2; }

repository=$(cd "$(dirname "$0")/.." && pwd)
built=$repository/runtime/target/release/horus

# Prints the path of the program.
program() {
    if [ -n "${HORUS:-}" ]; then echo "$HORUS"; return; fi
    if [ -x "$built" ]; then echo "$built"; return; fi
    if command -v horus; then return; fi
    if ! command -v cargo > /dev/null; then
        echo "there is no program 'horus' and no cargo to build it: install Rust (https://rustup.rs)," >&2
        echo "or build as yourself with 'cargo build --release -p horus-cli' in $repository/runtime" >&2
        return 2
    fi
    echo "building horus in $repository/runtime, once" >&2
    (cd "$repository/runtime" && cargo build --release --locked --package horus-cli) >&2 || return 2
    echo "$built"
}

case ${1:-} in
    setup) command=apply ;;
    status) command=verify ;;
    reset) command=revert ;;
    bench) command=determinism ;;
    *) usage ;;
esac
shift
horus=$(program) || exit 2
if [ "$command" = determinism ]; then
    [ $# -gt 0 ] || set -- --duration 10s
    reports=$(mktemp -d)
    trap 'rm -rf "$reports"' EXIT
    status=0
    "$horus" determinism --rules "$repository/conf/rt/audit" --output "$reports" --print "$@" || status=$?
    exit "$status"
fi
exec "$horus" tune "$command" --conf "$repository/conf" "$@"

#!/bin/sh
# Builds and runs every benchmark, the comparisons too, and makes one table of all results.
#
#   benchmarks/research/run_all.sh [--quick] [--no-languages] [--cpus A,B] [--out DIR]
#
# --quick measures less: under 15 minutes on two CPUs, the build not counted. Results (JSON, HdrHistogram logs, table.md)
# go to DIR, otherwise to benchmarks/results/<host>/, or with --quick to <host>-quick beside it.
# C++, Python and C# are measured last, by benchmarks/languages/run, which fetches what it needs; --no-languages leaves them out.
# Rivals that need more than Rust are measured when benchmarks/compare/setup.sh was run before.
# Nothing else should run meanwhile. Exit status: 0 all was measured and nothing corrupt, 1 otherwise.
set -u

benchmarks=$(cd "$(dirname "$0")/.." && pwd)
out='' quick='' cpus='' languages=yes
usage() { sed -n 's/^# \{0,1\}//; 2,10p' "$0"; }

while [ $# -gt 0 ]; do
    case $1 in
        --quick) quick=--quick ;;
        --no-languages) languages='' ;;
        --cpus) cpus=${2:?--cpus needs two CPUs, for example 0,1}; shift ;;
        --out) out=${2:?--out needs a directory}; shift ;;
        -h | --help) usage; exit 0 ;;
        *) echo "run_all.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
    esac
    shift
done

out=${out:-$benchmarks/results/$(hostname)${quick:+-quick}}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
# A benchmark that hangs against all its own bounds ends here.
limit=${quick:+120}
limit=${limit:-2400}
failed=0

# build DIRECTORY [FEATURES…]: builds the package's programs and says in $programs where they are.
build() {
    directory=$1; shift
    (cd "$directory" && cargo build --release --locked --bins "$@") || return 1
    target=$(cd "$directory" && cargo metadata --format-version 1 --no-deps --locked | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
    programs=$target/release
}

# run NAME COMMAND [ARGUMENT…]: runs a benchmark within $limit seconds.
run() {
    name=$1; shift
    started=$(date +%s)
    echo "== $name" >&2
    if timeout -k 10 "$limit" "$@" >/dev/null 2>"$out/$name.log"; then
        rm -f "$out/$name.log"
    else
        failed=1
        echo "run_all.sh: $name failed; its last words:" >&2
        tail -n 5 "$out/$name.log" >&2
    fi
    echo "   $(($(date +%s) - started)) s" >&2
}

# usual NAME: one that takes the options of all.
usual() {
    # shellcheck disable=SC2086 # the options are words of their own
    run "$1" "$programs/$1" $quick ${cpus:+--cpus $cpus} --out "$out"
}

build "$benchmarks" || exit 1
tables=$programs/tables
for benchmark in raw_baselines all_paths_latency cross_process_benchmark robotics_messages_benchmark \
    scalability_benchmark fanout_shm_bench production_bench bench_ipc scheduler_benchmark transform_benchmark determinism_benchmark; do
    usual "$benchmark"
done

if [ -f "$benchmarks/compare/Cargo.toml" ]; then
    # `CMAKE=…` for the environment, then a line of features; either may be missing.
    found=$("$benchmarks/compare/setup.sh" --check)
    cmake=$(echo "$found" | sed -n 's/^CMAKE=//p')
    [ -z "$cmake" ] || export CMAKE="$cmake"
    # shellcheck disable=SC2046 # the features are words of their own
    if build "$benchmarks/compare" $(echo "$found" | grep -v '^CMAKE=') || build "$benchmarks/compare"; then
        for benchmark in competitor_comparison iceoryx2_comparison service_benchmark iceoryx2_kills seed_loops; do
            usual "$benchmark"
        done
        # shellcheck disable=SC2086 # nothing or a word
        run gateway_benchmark "$programs/gateway_benchmark" $quick --csv "$out/gateway.csv"
    else
        failed=1
        echo "run_all.sh: the comparisons do not build" >&2
    fi
fi

if [ -n "$languages" ]; then
    limit=${quick:+1500} # its builds are counted
    limit=${limit:-4800}
    # shellcheck disable=SC2086 # nothing or a word
    run languages "$benchmarks/languages/run" $quick --out "$out/languages"
fi

"$tables" "$out" || failed=1
echo "run_all.sh: results are in $out" >&2
exit $failed

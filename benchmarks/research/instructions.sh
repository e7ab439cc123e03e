#!/usr/bin/env bash
# Counts instructions with valgrind's callgrind: the same numbers on every machine of one architecture, however busy.
# - Sending and receiving one 16-byte message, call and return included: at most 50 each.
# - The same from C, both together: at most 145.
# - One node's tick through the executor, among ten nodes of one thread: at most 300; with an input and an output: at most 760.
# Fails when there are more.
#
# valgrind offers no vDSO and no restartable sequences. So a clock read counts with what leads to it and with one instruction for the
# system call that valgrind makes in its place; what the vDSO would run is not counted. How glibc finds the CPU's number is not counted at
# all: on the machine it is one load, in valgrind another way.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v valgrind > /dev/null || { echo "instructions.sh: install valgrind (apt-get install valgrind)" >&2; exit 2; }
cargo build --locked --release --quiet --bin all_paths_latency --bin scheduler_benchmark
programs="${CARGO_TARGET_DIR:-target}/release"

# count FUNCTION PROGRAM ARGUMENTS…: instructions in the function, and what the program printed.
count() {
    local log printed counted
    log=$(mktemp)
    # The second one turns the counting off, because it is entered where counting is on.
    printed=$(valgrind --tool=callgrind --toggle-collect="$1" --toggle-collect=sched_getcpu --callgrind-out-file=/dev/null "${@:2}" 2> "$log")
    counted=$(sed -n 's/.*Collected : //p' "$log")
    rm "$log"
    [[ "$counted" =~ ^[1-9][0-9]*$ ]] || { echo "instructions.sh: valgrind counted nothing in $1" >&2; exit 1; }
    echo "$counted $printed"
}

# say NAME COUNTED OF UNIT MOST: prints a count; fails when it is above the limit.
say() {
    awk -v name="$1" -v counted="$2" -v of="$3" -v unit="$4" -v most="$5" 'BEGIN {
        printf "%-28s %.1f instructions %s (at most %s)\n", name, counted / of, unit, most
        exit counted / of > most
    }'
}

status=0
for function in send receive; do
    numbers=$(count "all_paths_latency::$function" "$programs/all_paths_latency" --count-instructions)
    read -r counted messages <<< "$numbers"
    say "$function" "$counted" "$messages" "a message" 50 || status=1
done

installed=$(mktemp -d)
topics=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$installed" "$topics"' EXIT
../scripts/install-library --prefix "$installed" > "$installed/log" 2>&1 || { cat "$installed/log" >&2; exit 1; }
# -z now: the first call of a function does not look for it.
cc -O2 languages/c_messages.c "-I$installed/include" "-L$installed/lib" -lhorus "-Wl,-rpath,$installed/lib" -Wl,-z,now -o "$installed/c_messages"
numbers=$(HORUS_SHM_DIR="$topics" count send_and_receive "$installed/c_messages")
read -r counted messages <<< "$numbers"
say "send and receive in C" "$counted" "$messages" "a message" 145 || status=1

# The difference of a long run and a short one, which begin and end alike.
tick() {
    local short long counted ticks few
    short=$(count scheduler_benchmark::ticks "$programs/scheduler_benchmark" --count-instructions "$2" 200)
    long=$(count scheduler_benchmark::ticks "$programs/scheduler_benchmark" --count-instructions "$2" 1200)
    read -r counted ticks <<< "$long"
    read -r less few <<< "$short"
    say "$1" $((counted - less)) $((ticks - few)) "a tick" "$3"
}
tick "a node that does nothing" bare 300 || status=1
tick "with an input and an output" ports 760 || status=1
exit $status

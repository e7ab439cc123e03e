#!/usr/bin/env bash
# Counts the instructions of sending and of receiving one 16-byte message, call and return included, with valgrind's
# callgrind: the same number on every machine of one architecture, however busy. Fails when there are more than 50.
set -euo pipefail
cd "$(dirname "$0")/.."

MOST=50

command -v valgrind > /dev/null || { echo "instructions.sh: install valgrind (apt-get install valgrind)" >&2; exit 2; }
cargo build --locked --release --quiet --bin all_paths_latency
program="${CARGO_TARGET_DIR:-target}/release/all_paths_latency"

status=0
for function in send receive; do
    log=$(mktemp)
    messages=$(valgrind --tool=callgrind --toggle-collect="all_paths_latency::$function" --callgrind-out-file=/dev/null "$program" --count-instructions 2> "$log")
    counted=$(sed -n 's/.*Collected : //p' "$log")
    rm "$log"
    [[ "$counted" =~ ^[1-9][0-9]*$ ]] || { echo "instructions.sh: valgrind counted nothing in $function" >&2; exit 1; }
    awk -v name="$function" -v counted="$counted" -v messages="$messages" -v most="$MOST" 'BEGIN {
        printf "%-18s %.1f instructions a message (at most %d)\n", name, counted / messages, most
        exit counted / messages > most
    }' || status=1
done
exit $status

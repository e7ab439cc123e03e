#!/bin/sh
# Drives the robot of this folder, kills its navigation, and delays its controller: beside a running `horus run robot.toml`.
# docs/robot.md goes through it step by step.
set -eu

CONTROLLER=robot-base/controller

say() {
    printf '== %s\n' "$*"
}

# Sends a goal; what becomes of it is told as it goes.
drive_to() {
    horus action send drive_to "x: $1, y: $2" --timeout 60s
}

# The process of a program of nodes.
process_of() {
    horus node list --json | grep -A 1 "\"program\": \"$1\"" | grep -o -m 1 '[0-9][0-9]*'
}

is_safe() {
    horus node info "$1" | grep -q '^ *state *safe state'
}

rearm() {
    horus node rearm "$1" --reason "$2"
}

# Waits for the end of a drive. A busy machine may be late enough for the base to stop by itself: it is let go on.
arrive() {
    while kill -0 "$1" 2>/dev/null; do
        for node in "$CONTROLLER" robot-base/motor; do
            if is_safe "$node"; then rearm "$node" "the machine was busy" || true; fi
        done
        sleep 0.2
    done
    wait "$1"
}

say "a goal behind the wall"
drive_to 5 1 &
arrive $!

say "faster"
horus param set "$CONTROLLER" speed=1.2

say "a goal in the door, and navigation is killed on the way"
drive_to 3 3.2 &
goal=$!
# Until navigation works on it; on a busy machine it may be over before that is seen.
until horus action list | grep -q '^drive_to .* executing ' || ! kill -0 "$goal" 2>/dev/null; do
    sleep 0.1
done
kill -9 "$(process_of robot-nav)"
if wait "$goal"; then say "it was there before"; else say "the goal is lost, and sent anew"; fi
tries=0
until horus action list | grep -q '^drive_to .*robot-nav'; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ]; then say "navigation does not start again"; exit 1; fi
    sleep 0.2
done
drive_to 3 3.2 &
arrive $!

say "a goal where it began, and each step of the controller takes too long"
drive_to 1 1 &
goal=$!
sleep 1
horus param set "$CONTROLLER" busy=80
tries=0
until is_safe "$CONTROLLER"; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ]; then say "the controller is never late"; exit 1; fi
    sleep 0.1
done
say "the controller is in its safe state, and the base stands"
horus param set "$CONTROLLER" busy=0
rearm "$CONTROLLER" "it computes no longer than it may"
arrive "$goal"
say "there"

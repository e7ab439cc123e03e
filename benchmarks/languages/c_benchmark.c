/* What C costs over Rust: the rows of cpp_benchmark.cpp, in the same loops, without a header of C++ between.

     ./scripts/install-library --prefix /tmp/horus
     cc -O2 c_benchmark.c -I/tmp/horus/include -L/tmp/horus/lib -lhorus -Wl,-rpath,/tmp/horus/lib -o c_benchmark
     ./c_benchmark [--csv]

   Each figure is the median of rounds, and the fastest of them stands beside it. */
#define _POSIX_C_SOURCE 200809L
#include <horus/horus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A round of calls is a millisecond, most of which pass without an interruption; one of ticks is longer, and there are fewer. */
enum { ROUNDS = 201, TIMES = 100000, TICK_ROUNDS = 21, TICKS = 200000, MOST_NODES = 50 };

typedef struct {
  double forward, turn;
} command;

static int is_csv;
static horus_layout *layout;

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Fails loudly: a figure of what does not work is none. */
static void must(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "%s: %s\n", what, horus_error());
  exit(1);
}

static int compare(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static void print(const char *name, double *spans, int rounds) {
  qsort(spans, (size_t)rounds, sizeof *spans, compare);
  printf(is_csv ? "%s,%.2f,%.2f\n" : "%-32s %9.2f ns  fastest %9.2f ns\n", name, spans[rounds / 2], spans[0]);
}

/* Nanoseconds each. */
#define MEASURE(name, ...)                       \
  do {                                           \
    double spans[ROUNDS], from;                  \
    int round;                                   \
    for (round = 0; round < ROUNDS; round++) {   \
      long i;                                    \
      from = now_ns();                           \
      for (i = 0; i < TIMES; i++) { __VA_ARGS__; } \
      spans[round] = (now_ns() - from) / TIMES;  \
    }                                            \
    print(name, spans, ROUNDS);                  \
  } while (0)

static void calls(void) {
  horus_publisher *publisher = horus_publisher_open("benchmark", layout, NULL);
  horus_subscriber *subscriber = horus_subscriber_open("benchmark", layout, NULL);
  static volatile command memory;
  command got = {0, 0};
  must(publisher && subscriber, "open");
  MEASURE("floor: 16 B written and read", {
    memory.forward = (double)i, memory.turn = 0;
    got.forward = memory.forward, got.turn = memory.turn;
    must(got.forward == (double)i, "memory");
  });
  MEASURE("floor: a reading of the clock", must(now_ns() > 0, "clock"));
  MEASURE("call of the library", must(horus_abi_version() == HORUS_ABI_VERSION, "abi_version"));
  MEASURE("send and receive 16 B", {
    const command sent = {(double)i, 0};
    must(horus_publisher_try_send(publisher, &sent, sizeof sent) == HORUS_OK, "send");
    must(horus_subscriber_try_recv(subscriber, &got, sizeof got, NULL) == HORUS_OK && got.forward == (double)i, "receive");
  });
  MEASURE("an empty look", must(horus_subscriber_try_recv(subscriber, &got, sizeof got, NULL) == HORUS_EMPTY, "look"));
  horus_publisher_close(publisher), horus_subscriber_close(subscriber);
}

typedef struct {
  horus_input *in;
  horus_output *out;
} relay;

static long steps;

static void count(void *context, const horus_cycle *cycle) { (void)context, (void)cycle, steps++; }

static void pass_on(void *context, const horus_cycle *cycle) {
  const relay *self = context;
  command seen = {-1, 0};
  (void)cycle;
  must(horus_input_latest(self->in, &seen, sizeof seen, NULL) >= 0, "latest");
  seen.forward += 1;
  must(horus_output_set(self->out, &seen, sizeof seen) == HORUS_OK, "set");
  steps++;
}

/* Runs the nodes; gives the nanoseconds of all of it. Node k reads what node k - 1 has written. */
static double run(int nodes, int has_ports, long releases) {
  static relay relays[MOST_NODES];
  horus_app *app = horus_app_new("c-benchmark");
  double from;
  int k;
  for (k = 0; k < nodes; k++) {
    char own[32], before[32];
    snprintf(own, sizeof own, "benchmark.%d", k), snprintf(before, sizeof before, "benchmark.%d", (k + nodes - 1) % nodes);
    if (has_ports) relays[k].in = horus_app_input(app, before, layout, NULL), relays[k].out = horus_app_output(app, own, layout, NULL);
    snprintf(own, sizeof own, "n%d", k);
    horus_node_period_ns(horus_app_node(app, own, has_ports ? pass_on : count, &relays[k]), 1000000);
  }
  steps = 0;
  from = now_ns();
  must(horus_app_run_in_place(app, (uint64_t)releases) == HORUS_OK, "run");
  from = now_ns() - from;
  must(steps == releases * nodes, "steps");
  return from;
}

/* A tick is what a longer run costs more: building the nodes is no part of it. */
static void ticks(int nodes, int has_ports) {
  const long releases = TICKS / nodes;
  double spans[TICK_ROUNDS];
  char name[64];
  int round;
  for (round = 0; round < TICK_ROUNDS; round++) {
    const double brief = run(nodes, has_ports, releases);
    spans[round] = (run(nodes, has_ports, 3 * releases) - brief) / (double)(2 * releases);
  }
  snprintf(name, sizeof name, "tick of %d %s%s", nodes, nodes == 1 ? "node" : "nodes", has_ports ? " with ports" : "");
  print(name, spans, TICK_ROUNDS);
}

int main(int argc, char **arguments) {
  static const int sizes[] = {1, 10, 50};
  int i;
  is_csv = argc > 1 && strcmp(arguments[1], "--csv") == 0;
  if (is_csv) puts("what,median_ns,fastest_ns");
  layout = horus_layout_parse("message horus/CmdVel\n forward f64\n turn f64");
  must(layout != NULL, "layout");
  calls();
  for (i = 0; i < 3; i++) ticks(sizes[i], 0), ticks(sizes[i], 1);
  return horus_layout_close(layout) == HORUS_OK ? 0 : 1;
}

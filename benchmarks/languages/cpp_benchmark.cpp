// What C++ costs over Rust: a call of the library, and a tick of 1, 10 and 50 nodes, each of which reads an input and writes an output.
//
//   ./scripts/install-library --prefix /tmp/horus
//   c++ -O2 -std=c++17 cpp_benchmark.cpp -I/tmp/horus/include -L/tmp/horus/lib -lhorus -Wl,-rpath,/tmp/horus/lib -o cpp_benchmark
//   ./cpp_benchmark [--csv]
//
// Each figure is the median of rounds, and the fastest of them stands beside it; a round is long enough for the clock not to matter. Ticks run in
// this thread, each as soon as the one before it is done, by the loop that also runs on the machine's clock. What a tick of a bare lambda costs is
// the loop's price with two readings of the clock a node, as on the machine.
#include <horus/horus.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// A round of calls is a millisecond, most of which pass without an interruption; one of ticks is longer, and there are fewer.
static constexpr int ROUNDS = 201, TICK_ROUNDS = 21;
static bool is_csv = false;

// Prints nanoseconds each.
static void measure(const char *name, long times, const std::function<void()> &round) {
  double spans[ROUNDS];
  for (double &span : spans) {
    const auto from = Clock::now();
    round();
    span = std::chrono::duration<double, std::nano>(Clock::now() - from).count() / double(times);
  }
  std::sort(spans, spans + ROUNDS);
  std::printf(is_csv ? "%s,%.2f,%.2f,,,\n" : "%-32s %9.2f ns  fastest %9.2f ns\n", name, spans[ROUNDS / 2], spans[0]);
}

// Fails loudly: a figure of what does not work is none.
static void must(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, horus_error());
  std::exit(1);
}

static void calls() {
  const long times = 100000;
  measure("floor: 16 B written and read", times, [&] {
    static volatile double memory[2];
    for (long i = 0; i < times; i++) {
      memory[0] = double(i), memory[1] = 0.0;
      must(memory[0] == double(i) && memory[1] == 0.0, "memory");
    }
  });
  measure("floor: a reading of the clock", times, [&] {
    for (long i = 0; i < times; i++) must(Clock::now().time_since_epoch().count() > 0, "clock");
  });
  measure("call of the library", times, [&] {
    std::uint32_t sum = 0;
    for (long i = 0; i < times; i++) sum += horus_abi_version();
    must(sum == times * HORUS_ABI_VERSION, "abi_version");
  });
  horus::Publisher<horus::CmdVel> publisher{"benchmark"};
  horus::Subscriber<horus::CmdVel> subscriber{"benchmark"};
  measure("send and receive 16 B", times, [&] {
    horus::CmdVel got{};
    for (long i = 0; i < times; i++) {
      must(bool(publisher.try_send({double(i), 0.0})), "send");
      must(bool(subscriber.try_recv(got)) && got.forward == double(i), "receive");
    }
  });
  measure("an empty look", times, [&] {
    horus::CmdVel got{};
    for (long i = 0; i < times; i++) must(!subscriber.try_recv(got), "look");
  });
}

// When the first node's steps began.
using Beginnings = std::vector<Clock::time_point>;

// Runs the nodes, with an input and an output each or without; gives the nanoseconds of all of it. Node k reads what node k - 1 has written.
static double run(int nodes, bool has_ports, std::uint64_t releases, Beginnings *beginnings = nullptr) {
  horus::App app{"cpp-benchmark"};
  std::uint64_t steps = 0;
  for (int k = 0; k < nodes; k++) {
    const std::string own = "benchmark." + std::to_string(k), before = "benchmark." + std::to_string((k + nodes - 1) % nodes);
    const std::string name = "n" + std::to_string(k);
    if (beginnings && k == 0) {
      app.node(name, [&steps, beginnings] { steps++, beginnings->push_back(Clock::now()); }).period(1ms);
    } else if (has_ports) {
      auto relay = [in = app.input<horus::CmdVel>(before), out = app.output<horus::CmdVel>(own), &steps](const horus::Cycle &) mutable {
        const horus::CmdVel *seen = in.latest();
        out.set({seen ? seen->forward + 1 : 0.0, 0.0});
        steps++;
      };
      app.node(name, std::move(relay)).period(1ms);
    } else {
      app.node(name, [&steps] { steps++; }).period(1ms);
    }
  }
  const auto from = Clock::now();
  must(bool(app.run_in_place(releases)), "run");
  const double span = std::chrono::duration<double, std::nano>(Clock::now() - from).count();
  must(steps == releases * std::uint64_t(nodes), "steps");
  return span;
}

// Of ticks one by one, each with a reading of the clock more: those that 1 % and 0.1 % take longer than, and the longest. On a machine that does
// other things, too, these are theirs.
struct Tail {
  double p99, p999, most;
};

static Tail tail(int nodes) {
  constexpr std::uint64_t TICKS = 10000;
  Beginnings beginnings;
  beginnings.reserve(TICKS);
  (void)run(nodes, false, TICKS, &beginnings);
  std::vector<double> spans;
  for (std::size_t i = 1; i < beginnings.size(); i++)
    spans.push_back(std::chrono::duration<double, std::nano>(beginnings[i] - beginnings[i - 1]).count());
  std::sort(spans.begin(), spans.end());
  return {spans[spans.size() * 99 / 100], spans[spans.size() * 999 / 1000], spans.back()};
}

// A tick is what a longer run costs more: building the nodes is no part of it.
static void ticks(int nodes, bool has_ports) {
  const std::uint64_t releases = 200000 / std::uint64_t(nodes);
  double spans[TICK_ROUNDS], fastest_short = 1e18, fastest_long = 1e18;
  for (double &span : spans) {
    const double brief = run(nodes, has_ports, releases), extended = run(nodes, has_ports, 3 * releases);
    span = (extended - brief) / double(2 * releases);
    fastest_short = std::min(fastest_short, brief), fastest_long = std::min(fastest_long, extended);
  }
  std::sort(spans, spans + TICK_ROUNDS);
  const double fastest = (fastest_long - fastest_short) / double(2 * releases);
  char name[64];
  std::snprintf(name, sizeof name, "tick of %d %s%s", nodes, nodes == 1 ? "node" : "nodes", has_ports ? " with ports" : "");
  std::printf(is_csv ? "%s,%.2f,%.2f," : "%-32s %9.2f ns  fastest %9.2f ns", name, spans[TICK_ROUNDS / 2], fastest);
  if (has_ports) {
    std::puts(is_csv ? ",," : "");
    return;
  }
  const Tail ones = tail(nodes);
  std::printf(is_csv ? "%.0f,%.0f,%.0f\n" : "  p99 %7.0f  p99.9 %7.0f  longest %8.0f ns\n", ones.p99, ones.p999, ones.most);
}

int main(int count, char **arguments) {
  is_csv = count > 1 && std::strcmp(arguments[1], "--csv") == 0;
  if (is_csv) std::puts("what,median_ns,fastest_ns,p99_ns,p999_ns,longest_ns");
  calls();
  for (const int nodes : {1, 10, 50})
    for (const bool has_ports : {false, true}) ticks(nodes, has_ports);
}

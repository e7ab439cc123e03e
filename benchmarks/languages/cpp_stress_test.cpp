// Everything of C++ at once, for as long as it is told: threads that exchange messages, peers that are killed, nodes, wrong calls. Every message is
// verified, and what a round takes of memory, files and mappings it gives back.
//
//   ./scripts/install-library --prefix /tmp/horus
//   c++ -O1 -g -std=c++17 -pthread -fsanitize=address cpp_stress_test.cpp -I/tmp/horus/include -L/tmp/horus/lib -lhorus -Wl,-rpath,/tmp/horus/lib -o cpp_stress_test
//   ./cpp_stress_test [--seconds 60]
#include "cpp_stress_peers.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

static Row copied{"messages by copy"}, lent_messages{"messages in place"}, bytes_messages{"messages of bytes"}, killed{"peers killed"}, cycles{"cycles of 50 nodes"},
    apps{"programs made and ended"}, misused{"wrong calls"};
static Row *const ROWS[] = {&copied, &lent_messages, &bytes_messages, &killed, &cycles, &apps, &misused};

// Several threads send on one topic, and several receive. All that was sent is received or, on a `latest` topic, counted as missed. Where messages
// are held in place, a number that was passed over is counted as missed, too.
template <class T, class Send, class Receive>
static void exchange(Row &row, const std::string &name, bool is_reliable, std::uint64_t messages, Send send, Receive receive) {
  constexpr std::uint64_t SENDERS = 2, RECEIVERS = 2;
  auto options = is_reliable ? horus::Options::reliable(16) : horus::Options::latest(16);
  options.publishers(SENDERS);
  std::vector<horus::Publisher<T>> publishers;
  std::vector<horus::Subscriber<T>> subscribers;
  for (std::uint64_t i = 0; i < SENDERS; i++) publishers.emplace_back(name, options);
  for (std::uint64_t i = 0; i < RECEIVERS; i++) subscribers.emplace_back(name, options);
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> sending{SENDERS};
  for (std::uint64_t i = 0; i < SENDERS; i++)
    threads.emplace_back([&, i] {
      for (std::uint64_t n = 0; n < messages; n++) send(publishers[i], i, n);
      row.done += messages;
      sending--;
    });
  for (auto &subscriber : subscribers)
    threads.emplace_back([&] {
      Order order(!is_reliable);
      std::uint64_t received = 0;
      // What was sent before the last look is received by then.
      for (bool is_over = false;;) {
        if (receive(subscriber, order)) {
          received++;
        } else if (is_over) {
          break;
        } else {
          is_over = sending == 0;
          std::this_thread::yield();
        }
      }
      const std::uint64_t missed = subscriber.missed();
      const bool may_pass_over = &row == &lent_messages && !is_reliable;
      const std::uint64_t known = received + missed, sent = SENDERS * messages;
      must(may_pass_over ? known >= sent && received <= sent : known == sent, "messages are neither received nor counted as missed");
      must(!is_reliable || missed == 0, "a reliable topic lost messages");
      row.verified += received, row.missed += missed;
    });
  for (auto &thread : threads) thread.join();
}

static void by_copy(const char *name, bool is_reliable) {
  const auto send = [](auto &publisher, std::uint64_t sender, std::uint64_t number) {
    Small message;
    message.fill(sender, number);
    must(bool(publisher.send(message, 30s)), "a message was not sent");
  };
  const auto receive = [](auto &subscriber, Order &order) {
    Small message;
    const bool came = bool(subscriber.try_recv(message));
    if (came) order.take(message);
    return came;
  };
  exchange<Small>(copied, topic(name), is_reliable, 5000, send, receive);
}

static void in_place(const char *name, bool is_reliable) {
  const auto send = [](auto &publisher, std::uint64_t sender, std::uint64_t number) {
    for (;; std::this_thread::yield()) {
      auto loan = publisher.loan();
      if (!loan) continue;
      loan->fill(sender, number);
      return loan.publish();
    }
  };
  const auto receive = [](auto &subscriber, Order &order) {
    const auto sample = subscriber.borrow();
    if (sample) order.take(*sample);
    return bool(sample);
  };
  exchange<Large>(lent_messages, topic(name), is_reliable, 500, send, receive);
}

// Messages of every length, through a wait set.
static void of_bytes() {
  constexpr std::size_t MOST = 2000;
  const std::string name = topic("bytes");
  horus::Publisher<horus::Bytes> publisher{name, MOST, horus::Options::reliable(8)};
  horus::Subscriber<horus::Bytes> subscriber{name, MOST, horus::Options::reliable(8)};
  std::thread sender([&] {
    std::array<char, MOST> message;
    for (std::size_t n = 0; n < MOST; n++) {
      std::memset(message.data(), int(n % 251), n);
      must(bool(publisher.send({message.data(), n}, 30s)), "bytes were not sent");
    }
    bytes_messages.done += MOST;
  });
  for (std::size_t n = 0; n < MOST; n++) {
    must(horus::wait_any(30s, subscriber).has_value(), "no bytes came");
    const auto sample = subscriber.borrow();
    const auto is_right = [&](std::uint8_t byte) { return byte == n % 251; };
    must(sample && sample->size == n && std::all_of(sample->begin(), sample->end(), is_right), "the bytes are not those that were sent");
    bytes_messages.verified++;
  }
  sender.join();
}

// Nodes that hand a message on from one to the next, in several programs at a time, each in a thread.
static void run_nodes(int program) {
  constexpr int NODES = 50;
  constexpr std::uint64_t RELEASES = 50;
  horus::App app{"stress"};
  std::uint64_t steps = 0;
  for (int k = 0; k < NODES; k++) {
    const auto name = [&](int node) { return topic("node.") + std::to_string(program) + "." + std::to_string(node); };
    auto step = [in = app.input<Small>(name(k)), out = app.output<Small>(name((k + 1) % NODES)), &steps](const horus::Cycle &cycle) mutable {
      const Small *seen = in.latest();
      must(!seen || seen->is_whole(), "a node was given another message than was set");
      Small message;
      message.fill(seen ? seen->sender + 1 : 0, cycle.number());
      must(out.set(message), "an output has no room");
      steps++;
    };
    app.node("n" + std::to_string(k), std::move(step)).period(1ms);
  }
  must(bool(app.run_in_place(RELEASES)), "the nodes did not run");
  must(steps == NODES * RELEASES, "a node left cycles out");
  cycles.done += RELEASES, cycles.verified += RELEASES;
}

// Programs that end without having run, and one that is refused.
static void make_apps() {
  for (int i = 0; i < 50; i++, apps.done++) {
    horus::App app{"stress"};
    auto out = app.output<Small>(topic("made"));
    app.node("only", [out](const horus::Cycle &) mutable { (void)out.set(Small{}); }).period(1ms);
    if (i % 2 == 0) continue;
    app.node("only", [] {}).period(1ms);
    try {
      (void)app.run_in_place(1);
      must(false, "two nodes of one name ran");
    } catch (const horus::Error &error) {
      must(std::strstr(error.what(), "only") != nullptr, "the reason does not name the node");
    }
    apps.verified++;
  }
}

// A handle of nothing, and one of another kind.
static void misuse() {
  horus_layout *layout = horus_layout_parse("message a/B\n x f64");
  for (int i = 0; i < 10000; i++) {
    void *handle = i % 2 ? nullptr : layout;
    Small message{};
    const horus_status said[] = {horus_publisher_try_send(static_cast<horus_publisher *>(handle), &message, sizeof message),
                                 horus_subscriber_try_recv(static_cast<horus_subscriber *>(handle), &message, sizeof message, nullptr),
                                 horus_input_latest(static_cast<horus_input *>(handle), &message, sizeof message, nullptr),
                                 horus_node_period_ns(static_cast<horus_node *>(handle), 1)};
    for (const horus_status status : said) must(status == HORUS_MISUSE && *horus_error(), "a wrong call was no error");
    misused.done += std::size(said), misused.verified += std::size(said);
  }
  must(horus_layout_close(layout) == HORUS_OK, "close");
}

static void round_of_all(const char *own_path) {
  std::vector<std::thread> threads;
  for (const bool is_reliable : {false, true}) {
    threads.emplace_back(by_copy, is_reliable ? "copy.reliable" : "copy.latest", is_reliable);
    threads.emplace_back(in_place, is_reliable ? "place.reliable" : "place.latest", is_reliable);
  }
  threads.emplace_back(of_bytes);
  for (int program = 0; program < 3; program++) threads.emplace_back(run_nodes, program);
  threads.emplace_back(make_apps);
  threads.emplace_back(misuse);
  kill_peer(killed, true, own_path);
  kill_peer(killed, false, own_path);
  for (auto &thread : threads) thread.join();
}

int main(int count, char **arguments) {
  if (count == 4 && std::string(arguments[1]) == "peer") be_peer(arguments[2], std::string(arguments[3]) == "sends");
  const bool is_long = count == 3 && std::string(arguments[1]) == "--seconds";
  must(count == 1 || is_long, "usage: cpp_stress_test [--seconds SECONDS]");
  const auto end = Clock::now() + std::chrono::seconds(is_long ? std::atol(arguments[2]) : 5);
  round_of_all(arguments[0]);
  const Held first = Held::now();
  long rounds = 1;
  for (; Clock::now() < end || rounds < 3; rounds++) round_of_all(arguments[0]);
  const Held last = Held::now();
  std::printf("%-24s %12s %12s %12s\n", "", "done", "verified", "missed");
  for (const Row *row : ROWS) row->print();
  // The original's table "Memory Safety" by its names. That AddressSanitizer found nothing, it says by letting the program end well.
  std::printf("\n%-24s %12s %12s\n", "Memory Safety", "iterations", "original's");
  const struct {
    const char *name;
    const Row &row;
    const char *original;
  } safety[] = {{"Scheduler create/destroy", apps, "1000"},
                {"Sustained ticks", cycles, "5000"},
                {"50 concurrent nodes", cycles, "5000"},
                {"Null pointer calls", misused, "10000"}};
  for (const auto &line : safety) std::printf("%-24s %12llu %12s\n", line.name, static_cast<unsigned long long>(line.row.done), line.original);
  std::printf("\n%ld rounds; memory %ld KiB after the first one, %ld KiB at the end\n", rounds, first.kib, last.kib);
  must(last.kib < first.kib + 64 * 1024, "memory grows");
  must(last.files == first.files, "open files grow");
  must(last.mappings == 0 && last.topics == 0, "topics are left behind");
  puts("all of it holds");
  return 0;
}

// A program of nodes in C++ among those of runtime/horus/tests/any_order.rs, which says what the words of a record are.
#include "check.hpp"

#include <chrono>
#include <optional>
#include <sstream>
#include <string>

using namespace std::chrono_literals;

struct Numbered {
  std::uint64_t origin;
  std::uint64_t number;
};
HORUS_MESSAGE(Numbered, "order/Numbered", origin, number);

enum Kind : std::uint64_t { OPENED = 1, STEP, SET, RECEIVED, MISSED, ENDED = 7 };

static std::string variable(const char *name) {
  const char *value = std::getenv(name);
  CHECK(value != nullptr);
  return value;
}

static std::uint64_t now() { return std::uint64_t(std::chrono::steady_clock::now().time_since_epoch().count()); }

// Unbuffered: SIGKILL leaves what was written.
static std::FILE *record;

static void append(Kind kind, std::uint64_t one, std::uint64_t two) {
  const std::uint64_t words[3] = {kind, one, two};
  CHECK(std::fwrite(words, sizeof words, 1, record) == 1);
}

static horus::Options options(std::size_t capacity) {
  if (capacity == 0) return {};
  return variable("POLICY") == "reliable" ? horus::Options::reliable(capacity) : horus::Options::latest(capacity);
}

int main() {
  const std::string role = variable("ROLE");
  const std::uint64_t origin = std::stoull(variable("NUMBER"));
  std::size_t capacities[4] = {};
  std::istringstream numbers(variable("CAPACITIES"));
  for (auto &capacity : capacities) numbers >> capacity;
  record = std::fopen(variable("RECORD").c_str(), "ab");
  CHECK(record != nullptr && std::setvbuf(record, nullptr, _IONBF, 0) == 0);

  const bool is_source = role == "source", is_relay = role == "relay";
  std::optional<horus::Input<Numbered>> input;
  std::optional<horus::Output<Numbered>> output;
  std::uint64_t missed = 0, accepted = 0, attempts = 0;
  horus::App app{"order-" + role};
  if (!is_source) {
    input = app.input<Numbered>(is_relay ? "a" : "b", options(capacities[is_relay ? 1 : 3]));
    append(OPENED, now(), 0);
  }
  if (is_source || is_relay) output = app.output<Numbered>(is_source ? "a" : "b", options(capacities[is_source ? 0 : 2]));
  const auto write = [&] {
    attempts++;
    const auto before = now();
    if (output->set({origin, accepted})) append(SET, accepted++, before);
    const auto lost = output->lost();
    CHECK(attempts == accepted + lost.full + lost.beyond + lost.discarded + lost.outside);
  };
  auto node = app.node(role.c_str(), [&] {
    append(STEP, now(), 0);
    if (is_source) {
      for (int burst = 0; burst < 2; burst++) write();
      return;
    }
    for (Numbered message; input->next(message);) {
      append(RECEIVED, message.origin, message.number);
      if (is_relay) write();
    }
    if (input->missed() > missed) append(MISSED, missed = input->missed(), 0);
  });
  node.period(is_relay ? 5ms : 1ms);
  if (is_relay) node.on("a").deadline(5ms);
  CHECK(app.run() == 0);
  append(ENDED, now(), 0);
}

// C++'s place in the ring of five languages: see scripts/checks/languages/ring.py.
#include <horus/horus.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

struct Token {
  std::uint64_t number;
  double value;
  std::array<std::int16_t, 3> small;
  std::uint8_t hops;
  std::array<std::uint8_t, 1> spare;
};
HORUS_MESSAGE(Token, "example/Token", number, value, small, hops, spare);

struct Changed {
  std::uint64_t number;
  double worth;
  std::array<std::int16_t, 3> small;
  std::uint8_t hops;
  std::array<std::uint8_t, 1> spare;
};
HORUS_MESSAGE(Changed, "example/Token", number, worth, small, hops, spare);

static void ready() {
  std::puts("ready");
  std::fflush(stdout);
}

static const char *wrong_field(const Token &got, std::uint64_t number) {
  const auto small = std::int16_t(number % 1000);
  if (got.number != number) return "number";
  if (got.value != double(number) * 0.5) return "value";
  if (got.small != std::array<std::int16_t, 3>{small, std::int16_t(-small), 7}) return "small";
  if (got.spare[0] != 0x5a) return "spare";
  return nullptr;
}

static int pass(const std::string &from, const std::string &to, std::uint64_t count) {
  horus::Subscriber<Token> incoming{from, horus::Options::reliable(64)};
  horus::Publisher<Token> outgoing{to, horus::Options::reliable(64)};
  ready();
  for (std::uint64_t number = 0; number < count; number++) {
    Token message{};
    incoming.recv(message);
    if (const char *field = wrong_field(message, number)) {
      std::fprintf(stderr, "ring: message %llu: its field %s is wrong\n", static_cast<unsigned long long>(number), field);
      return 1;
    }
    message.hops++;
    outgoing.send(message);
  }
  return 0;
}

static int hold(const std::string &topic) {
  horus::Publisher<Token> publisher{topic, horus::Options::reliable(64)};
  ready();
  while (std::getchar() != EOF) continue;
  return 0;
}

static int changed(const std::string &topic) {
  try {
    horus::Subscriber<Changed> subscriber{topic, horus::Options::reliable(64)};
  } catch (const horus::Error &refusal) {
    std::puts(refusal.what());
    return 3;
  }
  return 0;
}

int main(int count, char **words) try {
  const std::vector<std::string> arguments(words + 1, words + count);
  if (arguments.size() == 4 && arguments[0] == "pass") return pass(arguments[1], arguments[2], std::stoull(arguments[3]));
  if (arguments.size() == 2 && arguments[0] == "hold") return hold(arguments[1]);
  if (arguments.size() == 2 && arguments[0] == "changed") return changed(arguments[1]);
  std::fputs("ring: unknown arguments\n", stderr);
  return 1;
} catch (const horus::Error &error) {
  std::fprintf(stderr, "ring: %s\n", error.what());
  return 1;
}

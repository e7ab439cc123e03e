// What cpp_stress_test.cpp verifies by: messages that say whether they are whole, their order, and what the process holds of the machine.
#ifndef HORUS_STRESS_HPP
#define HORUS_STRESS_HPP

#include <horus/horus.hpp>

#include <unistd.h>

#include <atomic>
#include <cinttypes>
#include <filesystem>
#include <fstream>

// Ends the test: what came after would prove nothing.
inline void must(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "cpp_stress_test: %s; the last error: %s\n", what, horus_error());
  std::_Exit(1);
}

// A name that no other run has.
inline std::string topic(const char *name) { return "stress." + std::to_string(getpid()) + "." + name; }

// Messages that say of themselves whether they are whole: one that is copied, and one that is large enough to be lent on every topic.
template <std::size_t Words>
struct Marked {
  std::uint64_t sender, number;
  std::array<std::uint64_t, Words> words;

  void fill(std::uint64_t from, std::uint64_t n) {
    sender = from, number = n;
    for (std::size_t i = 0; i < Words; i++) words[i] = mark(i);
  }
  bool is_whole() const {
    for (std::size_t i = 0; i < Words; i++)
      if (words[i] != mark(i)) return false;
    return true;
  }
  std::uint64_t mark(std::uint64_t i) const { return (sender * 0x9e3779b97f4a7c15 + number + 1) * 0xff51afd7ed558ccd + i; }
};
struct Small : Marked<6> {};
struct Large : Marked<1022> {};
HORUS_MESSAGE(Small, "stress/Small", sender, number, words);
HORUS_MESSAGE(Large, "stress/Large", sender, number, words);

// How the messages of each sender have to come: each the one after that before it, unless some were missed.
class Order {
 public:
  explicit Order(bool may_miss) : may_miss_(may_miss) {}
  template <class T>
  void take(const T &message) {
    must(message.is_whole(), "a message is not what was sent");
    must(message.sender < next_.size(), "a message of no sender");
    std::uint64_t &next = next_[message.sender];
    must(may_miss_ ? message.number >= next : message.number == next, "a message came out of its order, or twice, or was lost");
    next = message.number + 1;
  }

 private:
  bool may_miss_;
  std::array<std::uint64_t, 8> next_{};
};

// A row of the table.
struct Row {
  const char *what;
  std::atomic<std::uint64_t> done{0}, verified{0}, missed{0};

  void print() const {
    std::printf("%-24s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n", what, done.load(), verified.load(), missed.load());
  }
};

// What the process holds of the machine.
struct Held {
  long kib = 0, files = 0, mappings = 0, topics = 0;

  static Held now() {
    Held held;
    std::ifstream statm("/proc/self/statm"), maps("/proc/self/maps");
    statm >> held.kib >> held.kib, held.kib *= sysconf(_SC_PAGESIZE) / 1024;
    const std::string own = topic("");
    for (std::string line; std::getline(maps, line);) held.mappings += line.find(own) != std::string::npos;
    for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) (void)entry, held.files++;
    const char *directory = std::getenv("HORUS_SHM_DIR");
    for (const auto &entry : std::filesystem::directory_iterator(directory ? directory : "/dev/shm/horus"))
      held.topics += entry.path().filename().string().rfind(own, 0) == 0;
    return held;
  }
};

#endif

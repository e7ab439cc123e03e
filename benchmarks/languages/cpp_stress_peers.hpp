// Peers of cpp_stress_test.cpp: processes of its own program, which it kills.
#ifndef HORUS_STRESS_PEERS_HPP
#define HORUS_STRESS_PEERS_HPP

#include "cpp_stress.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <thread>

// What a peer does until it is killed: it sends without an end, or holds a message, and with it the topic.
[[noreturn]] inline void be_peer(const std::string &name, bool sends) {
  // It does not outlive who started it, whose number the topic's name has.
  must(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && name.find("." + std::to_string(getppid()) + ".") != std::string::npos, "the test has ended");
  if (sends) {
    horus::Publisher<Small> publisher{name, horus::Options::reliable(8)};
    Small message;
    for (std::uint64_t number = 0;; number++) {
      message.fill(0, number);
      (void)publisher.send(message);
    }
  }
  horus::Subscriber<Small> subscriber{name, horus::Options::reliable(8)};
  for (;;) {
    const auto sample = subscriber.borrow();
    for (; sample;) pause();
  }
}

// A peer is killed in the middle of what it does: the other end keeps what is whole, and goes on.
inline void kill_peer(Row &killed, bool sends, const char *own_path) {
  const std::string name = topic(sends ? "sender" : "holder");
  horus::Subscriber<Small> subscriber{name, horus::Options::reliable(8)};
  std::optional<horus::Publisher<Small>> publisher;
  if (!sends) publisher.emplace(name, horus::Options::reliable(8));
  const char *const arguments[] = {own_path, "peer", name.c_str(), sends ? "sends" : "holds", nullptr};
  pid_t peer;
  must(posix_spawn(&peer, "/proc/self/exe", nullptr, nullptr, const_cast<char **>(arguments), environ) == 0, "posix_spawn");
  Order order(false);
  std::uint64_t received = 0;
  Small message{};
  const auto take = [&](std::chrono::nanoseconds limit) {
    const bool came = bool(subscriber.recv(message, limit));
    if (came) order.take(message), received++;
    return came;
  };
  const auto send = [&](std::chrono::nanoseconds limit, std::uint64_t number) {
    message.fill(0, number);
    const bool is_sent = bool(publisher->send(message, limit));
    if (is_sent) must(take(std::chrono::seconds(30)), "what was sent did not come");
    return is_sent;
  };
  std::uint64_t sent = 0;
  if (sends) {
    while (received < 1000) must(take(std::chrono::seconds(30)), "a peer sends nothing");
  } else {
    while (publisher->subscribers() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    while (send(std::chrono::milliseconds(20), sent)) sent++;  // until it holds the topic
  }
  must(kill(peer, SIGKILL) == 0 && waitpid(peer, nullptr, 0) == peer, "kill");
  while (sends && take(std::chrono::seconds(0))) continue;
  for (std::uint64_t n = 0; !sends && n < 100; n++) must(send(std::chrono::seconds(30), sent + n), "a dead subscriber holds its topic");
  killed.done++, killed.verified += received > 0;
}

#endif

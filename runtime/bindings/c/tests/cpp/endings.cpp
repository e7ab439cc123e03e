// Programs that end while something goes on: a step that never returns, and threads that outlive main. Argument: which.
#include "check.hpp"

#include <atomic>
#include <string>
#include <thread>

using namespace std::chrono_literals;

// With a grace time of nothing, a second signal ends it.
static int hang(bool has_grace) {
  horus::App app{"hangs"};
  if (!has_grace) app.grace(0s);
  app.node("hangs", [] {
    std::fputs("hangs\n", stderr);
    for (volatile bool goes_on = true; goes_on;) continue;
  }).period(1ms);
  return app.run();
}

// They use the library, and objects of C++ that are theirs, while `main` returns.
static int outlive() {
  static std::atomic<int> running;
  const auto options = horus::Options::reliable(8);
  std::thread([options] {
    horus::Subscriber<horus::CmdVel> subscriber{"counts", options};
    horus::CmdVel got{};
    for (running++;;) (void)subscriber.recv(got);
  }).detach();
  std::thread([options] {
    horus::Publisher<horus::CmdVel> publisher{"counts", options};
    for (running++;;) (void)publisher.send({1, 2}, 1ms);
  }).detach();
  // What is opened for the first time needs the layout of its message, whatever `main` has destroyed by now.
  std::thread([] {
    for (running++;;) {
      CHECK(horus::Publisher<horus::Imu>::open("imu"));
      CHECK(!horus::Publisher<horus::Imu>::open("a//b"));
    }
  }).detach();
  while (running < 3) std::this_thread::yield();
  std::puts("all of it holds");
  return 0;
}

int main(int count, char **arguments) {
  const std::string how = count > 1 ? arguments[1] : "";
  return how == "hang" ? hang(true) : how == "grace" ? hang(false) : outlive();
}

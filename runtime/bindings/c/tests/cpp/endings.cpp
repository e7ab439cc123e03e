// Programs that end while something goes on: a step that never returns, and threads that outlive main. Argument: which.
#include "check.hpp"

#include <atomic>
#include <string>
#include <thread>

using namespace std::chrono_literals;

static int hang() {
  horus::App app{"hangs"};
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

int main(int count, char **arguments) { return count > 1 && std::string(arguments[1]) == "hang" ? hang() : outlive(); }

// Frames in C++: sent, looked up, refused; and a latched topic.
#include "check.hpp"

#include <string>

int main() {
  using namespace std::chrono_literals;
  horus::StaticBroadcaster mounted;
  mounted.add("base", "lidar", {{0, 0.5, 0}, {0, 0, 0, 1}});
  horus::Frames frames;
  horus::Transform at = {};
  {
    horus::Broadcaster base{"odom", "base"};
    base.send(1000, {{1, 0, 0}, {0, 0, 0, 1}});
    CHECK(frames.at("odom", "lidar", 1000, at) && at.translation[0] == 1 && at.translation[1] == 0.5);
    std::uint64_t time = 0;
    CHECK(frames.newest("odom", "base", at, &time) && time == 1000);
    CHECK(frames.wait("odom", "base", 1000, 1s, at));
    const auto second = horus::Broadcaster::open("map", "base");
    CHECK(!second && second.error().find("base is in odom already") != std::string::npos);
  }
  std::string why;
  try {
    frames.at("odom", "base", 1000, at);
  } catch (const horus::Error &error) {
    why = error.what();
  }
  CHECK(why.find("no frame is called odom") != std::string::npos);

  { horus::Publisher<horus::CmdVel>{"dock", horus::Options::latest(2).latched()}.send({0.5, 0}); }
  horus::CmdVel last = {};
  CHECK(horus::Subscriber<horus::CmdVel>("dock", horus::Options().latched()).try_recv(last) && last.forward == 0.5);
  std::puts("all of it holds");
}

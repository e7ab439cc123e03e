// Parameters in C++: declared, read in steps, set in a world.
#include "check.hpp"

#include <string>

int main() {
  using namespace std::chrono_literals;
  double gain_seen = 0;
  std::int64_t turn_seen = 0;
  bool on_seen = false;
  std::string frame_seen;
  const auto declare = [&](horus::App &app) {
    auto gain = app.param("gain", 0.8, horus::ParamOptions().unit("1/s").range(0.0, 4.0).about("speed for a metre of distance"));
    auto turn = app.param("turn", 2, horus::ParamOptions().range(-5, 5));
    auto on = app.param("on", true);
    auto frame = app.param("frame", "base");
    app.node("drive", [=, &gain_seen, &turn_seen, &on_seen, &frame_seen](const horus::Cycle &) {
         gain_seen = gain;
         turn_seen = turn.get();
         on_seen = on.get();
         frame_seen = frame.get();
         char text[65];
         CHECK(frame.copy_to(text, sizeof text) && frame_seen == text);
       }).period(1ms);
  };
  horus::World world{declare};
  world.run_for(2ms);
  CHECK(gain_seen == 0.8 && turn_seen == 2 && on_seen && frame_seen == "base");
  world.set_param("drive", "gain", 1.5);
  world.set_param("drive", "turn", -3);
  world.set_param("drive", "on", false);
  world.set_param("drive", "frame", std::string("odom"));
  world.run_for(2ms);
  CHECK(gain_seen == 1.5 && turn_seen == -3 && !on_seen && frame_seen == "odom");
  std::string why;
  try {
    world.set_param("drive", "gain", 9.0);
  } catch (const horus::Error &error) {
    why = error.what();
  }
  CHECK(why == "gain may be 0 to 4 1/s (speed for a metre of distance); it stays 1.5");
  why.clear();
  try {
    world.set_param("drive", "turn", std::uint64_t{1} << 63);
  } catch (const std::exception &error) {
    why = error.what();
  }
  world.run_for(2ms);
  CHECK(!why.empty() && turn_seen == -3);
  const auto none = horus::Params::open("nowhere");
  CHECK(!none && none.error().find("no living program nowhere") != std::string::npos);
  const auto wrong = horus::World::make([](horus::App &app) { app.param("gain", 0.8, horus::ParamOptions().range("low", "high")); });
  CHECK(!wrong && wrong.error().find("the range of parameter gain") != std::string::npos);
  std::puts("all of it holds");
}

// What a step logs, in virtual time.
#include <string>
#include <string_view>

#include "check.hpp"

int main() {
  using namespace std::chrono_literals;
  horus::World world([](horus::App &app) {
    app.node("wheels", [](const horus::Cycle &cycle) {
         if (cycle.number() != 1) return;
         const std::string part = "motor";
         cycle.log(horus::Level::info, "all is well");
         cycle.log(horus::Level::warn, "{} of {} {:.2} {} {} {} {:x} {}", -3, std::uint8_t(4), 0.126, 0.1f, true, part, 255ull, "left");
         cycle.log(horus::Level::debug, "{}", std::string_view("leftover").substr(0, 4));
         cycle.log(horus::Level::error, "{} and {}", 7);
       }).period(1ms);
  });
  world.run_for(10ms);
  const std::vector<std::string> said = world.journal();
  CHECK(said.size() == 4);
  CHECK(said[0] == "node wheels, cycle 1: all is well");
  CHECK(said[1] == "node wheels, cycle 1: -3 of 4 0.13 0.1 true motor ff left");
  CHECK(said[2] == "node wheels, cycle 1: left");
  CHECK(said[3].find("cannot log \"{} and {}\"") != std::string::npos);
  std::puts("all of it holds");
}

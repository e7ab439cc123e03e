// Nodes in C++: in virtual time with their misses, on the machine's clock, and a step that throws.
#include "check.hpp"

#include <string>

using namespace std::chrono_literals;

struct Declared {
  int throws_in = 0;

  void operator()(horus::App &app) const {
    auto imu = app.input<horus::Imu>("imu");
    auto cmd = std::make_shared<horus::Output<horus::CmdVel>>(app.output<horus::CmdVel>("base.cmd"));
    auto control = [imu = std::move(imu), cmd, left = throws_in](const horus::Cycle &cycle) mutable {
      if (auto m = imu.latest()) cmd->set({0.8 * m->angular_velocity.y, 0.0});
      if (left > 0 && --left == 0) throw std::runtime_error("the wheel came off");
      CHECK(cycle.deadline() > cycle.release());
    };
    auto stop = [cmd] { cmd->set({0, 0}); };
    app.node("control", std::move(control), stop).period(1ms).budget(100us).deadline(800us).on_miss(HORUS_SAFE_STATE, 3, 100);
  }
};

static void in_virtual_time() {
  horus::World world{Declared{}};
  horus::Imu tilted{};
  tilted.angular_velocity.y = 0.5;
  CHECK(!world.last<horus::CmdVel>("base.cmd"));
  CHECK(world.publish("imu", tilted) && world.run_for(10ms));
  CHECK(world.last<horus::CmdVel>("base.cmd")->forward == 0.4 && world.now() == 10ms);
  CHECK(world.takes("control", 900us, 3) && world.run_for(10ms));
  CHECK(world.tally("control").misses == 3 && world.tally("control").is_safe);
  CHECK(world.last<horus::CmdVel>("base.cmd")->forward == 0 && !world.journal().empty());
}

static void in_place() {
  long steps = 0;
  horus::App app{"in-place"};
  app.node("count", [&steps] { steps++; }).period(1ms);
  CHECK(app.run_in_place(1000) && steps == 1000);
}

static void refused() {
  std::string said;
  try {
    horus::World world{[](horus::App &) {}};
  } catch (const horus::Error &error) {
    said = error.what();
  }
  CHECK(said.find("the program has no nodes") != std::string::npos);
  auto thrown = horus::World::make([](horus::App &) { throw std::runtime_error("no robot"); });
  CHECK(!thrown && thrown.error() == "no robot");
  horus::World world{Declared{3}};
  try {
    (void)world.run_for(10ms);
    said.clear();
  } catch (const horus::Error &error) {
    said = error.what();
  }
  CHECK(said == "a node failed: the wheel came off");
}

// What a node fails with is told even if it is no text.
static void failed_without_words() {
  const auto said = [](auto step) {
    horus::World world{[&](horus::App &app) { app.node("a", step).period(1ms); }};
    try {
      (void)world.run_for(2ms);
    } catch (const horus::Error &error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK(said([] { throw std::runtime_error("wheel \xff"); }) == "a node failed: wheel \xef\xbf\xbd");
  CHECK(said([](const horus::Cycle &cycle) { cycle.fail(nullptr); }) == "a node failed: without a reason");
  CHECK(said([] { throw 42; }) == "a node failed: an exception that is no std::exception");
}

int main(int count, char **arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "main") return horus::main("robot", Declared{});
  if (what == "world") {
    in_virtual_time();
    in_place();
    refused();
    failed_without_words();
    std::puts("all of it holds");
    return 0;
  }
  horus::App app{"robot"};
  Declared{what == "throw" ? 3 : 0}(app);
  app.releases(20);
  return app.run();
}

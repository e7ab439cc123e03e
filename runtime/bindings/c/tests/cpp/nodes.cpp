// Nodes in C++: in virtual time with their misses, on the machine's clock, and a step that throws.
#include "check.hpp"

#include <optional>
#include <string>

using namespace std::chrono_literals;
using horus::CmdVel;

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
    app.node("control", std::move(control), stop).period(1ms).budget(100us).deadline(800us).monitor_limit(50ms)
        .on_miss(HORUS_SAFE_STATE, 3, 100);
  }
};

static void in_virtual_time() {
  horus::World world{Declared{}};
  horus::Imu tilted{};
  tilted.angular_velocity.y = 0.5;
  CHECK(!world.last<horus::CmdVel>("base.cmd"));
  CHECK(world.publish("imu", tilted) && world.run_for(10ms));
  CHECK(world.last<horus::CmdVel>("base.cmd")->forward == 0.4 && world.now() == 10ms);
  CHECK(world.run_for(-1ms) && world.now() == 10ms);
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
  auto unknown = horus::World::make([](horus::App &) { throw 42; });
  CHECK(!unknown && unknown.error() == "an exception that is no std::exception");
  horus::World world{Declared{3}};
  try {
    (void)world.run_for(10ms);
    said.clear();
  } catch (const horus::Error &error) {
    said = error.what();
  }
  CHECK(said == "a node failed: the wheel came off");
}

// The newest message is the newest however it was read.
static void latest_after_next() {
  int looks = 0;
  horus::World world{[&](horus::App &app) {
    auto in = app.input<horus::CmdVel>("in", horus::Options::latest(8));
    app.node("a", [in = std::move(in), &looks](const horus::Cycle &) mutable {
      horus::CmdVel got;
      if (looks == 0 && in.latest() && in.latest()->forward == 0) looks = 1;
      if (looks == 1 && in.next(got)) {
        CHECK(got.forward == 1 && in.latest()->forward == 3 && in.about().sequence == 3 && !in.next(got));
        looks = 2;
      } else if (looks == 2 && in.next(got)) {
        CHECK(got.forward == 4 && !in.next(got) && !in.fresh());
        CHECK(in.latest()->forward == 4 && in.about().sequence == 4 && in.latest()->forward == 4);
        looks = 3;
      }
    }).period(1ms);
  }};
  for (int count : {1, 3, 1}) {
    static int sent = 0;
    while (count-- > 0) CHECK(world.publish("in", horus::CmdVel{double(sent++), 0}));
    CHECK(world.run_for(3ms));
  }
  CHECK(looks == 3);
}

// Each message once, in order, and the newest is the newest afterwards.
static void all_messages() {
  std::vector<double> got;
  horus::World world{[&](horus::App &app) {
    auto in = app.input<horus::CmdVel>("in", horus::Options::latest(8));
    app.node("a", [in = std::move(in), &got](const horus::Cycle &) mutable {
      for (const horus::CmdVel &message : in.messages()) {
        got.push_back(message.forward);
        CHECK(in.about().sequence + 1 == std::uint64_t(message.forward));
      }
      if (!got.empty()) CHECK(in.latest()->forward == got.back());
    }).period(1ms);
  }};
  for (int sent : {1, 2, 3}) CHECK(world.publish("in", horus::CmdVel{double(sent), 0}));
  CHECK(world.run_for(3ms));
  for (int sent : {4, 5}) CHECK(world.publish("in", horus::CmdVel{double(sent), 0}));
  CHECK(world.run_for(3ms));
  CHECK((got == std::vector<double>{1, 2, 3, 4, 5}));
}

// Bytes go through ports and worlds as messages do, and each keeps its length.
static void of_bytes() {
  std::vector<std::string> each, newest;
  horus::Lost lost = {};
  std::string refused;
  horus::World world{[&](horus::App &app) {
    auto in = app.input<horus::Bytes>("log", 64, horus::Options::latest(8));
    auto out = app.output<horus::Bytes>("copy", 16);
    app.node("a", [in = std::move(in), out, &each, &newest, &lost, &refused](const horus::Cycle &cycle) mutable {
      std::string text;
      horus::Received about = {};
      if (in.next(text, &about)) {
        CHECK(about.bytes == text.size() && about.sequence == each.size() && !in.age(cycle));
        each.push_back(text);
      }
      for (const horus::Bytes &message : in.messages()) each.emplace_back(message.text());
      if (in.latest()) {
        newest.emplace_back(in.latest()->text());
        CHECK(in.about().bytes == in.latest()->size && in.age(cycle));
        CHECK(out.set(*in.latest()) && out.set("") && out.set("ready"));
        CHECK(!in.fresh() && in.missed() == 0);
      }
      if (cycle.number() == 5) {
        try {
          (void)out.set("longer than sixteen bytes");
        } catch (const horus::Error &error) {
          refused = error.what();
        }
      }
      lost = out.lost();
    }).period(1ms);
  }};
  CHECK(!world.last<std::string>("copy", 16));
  for (const char *text : {"left", "wheel", "slips"}) CHECK(world.publish("log", 64, text));
  CHECK(world.run_for(10ms));
  CHECK((each == std::vector<std::string>{"left", "wheel", "slips"}) && newest.front() == "slips" && newest.back() == "slips");
  CHECK(world.last<std::string>("copy", 16) == "ready" && world.last<std::vector<std::uint8_t>>("copy", 16)->size() == 5);
  CHECK(refused.find("a message of 25 bytes is too long for this topic: it was made for at most 16") != std::string::npos);
  CHECK(lost.invalid == 1 && lost.full + lost.beyond + lost.discarded + lost.outside == 0);
}

// What a step sets beyond the room that there is, it is told.
static void more_than_there_is_room_for() {
  int taken = 0;
  horus::World world{[&](horus::App &app) {
    auto out = app.output<horus::CmdVel>("out");
    app.node("a", [out, &taken]() mutable {
      while (taken < 1000000 && out.set({0, 0})) taken++;
    }).period(1ms);
  }};
  CHECK(world.run_for(2ms) && taken > 0 && taken < 1000000);
}

// On a full reliable topic a message is refused and counted, and all others come once, in order. What was overwritten is missed.
static void each_loss_is_counted_by_its_cause() {
  std::uint64_t set = 0, came = 0, missed = 0;
  double taken = 0, received = 0;
  horus::Lost lost = {};
  std::optional<horus::Output<CmdVel>> out, few;
  std::optional<horus::Input<CmdVel>> in, late;
  horus::World world{[&](horus::App &app) {
    out = app.output<CmdVel>("full", horus::Options::reliable(4));
    few = app.output<CmdVel>("few", horus::Options::latest(4));
    app.node("send", [&] {
         CHECK(few->set({0, 0}));
         for (int i = 0; i < 3; i++, set++) taken += bool(out->set({taken, 0}));
         lost = out->lost();
       }).period(1ms);
    in = app.input<CmdVel>("full", horus::Options::reliable(4));
    app.node("receive", [&] {
         for (CmdVel message; in->next(message);) CHECK(message.forward == received++);
       }).period(5ms);
    late = app.input<CmdVel>("few", horus::Options::latest(4));
    app.node("late", [&] {
         for (CmdVel message; late->next(message);) came++;
         missed = late->missed();
       }).period(20ms);
  }};
  CHECK(world.run_for(52ms) && received > 30 && lost.full > 30 && lost.beyond + lost.discarded + lost.outside == 0);
  CHECK(lost.full + std::uint64_t(taken) == set && received <= taken && taken <= received + 4);
  CHECK(came > 0 && missed > 20 && came + missed <= 53);
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

// A node.toml has the last word in a world, too; a rate is a period; and the age of a message is that of the newest one read.
static void settings_and_ages(const std::string &file) {
  std::uint64_t steps = 0;
  std::optional<std::chrono::nanoseconds> age;
  const auto declare = [&](horus::App &app) {
    auto in = app.input<CmdVel>("in");
    app.stack(1 << 20);
    app.node("a", [in = std::move(in), &steps, &age](const horus::Cycle &cycle) mutable {
      CHECK(steps > 0 || !in.age(cycle));
      steps++;
      if (in.latest()) age = in.age(cycle);
    }).rate(1000);
  };
  horus::World world{declare};
  CHECK(world.run_for(10ms) && steps >= 10);
  const std::uint64_t without = std::exchange(steps, 0);
  CHECK(world.publish("in", CmdVel{1, 0}) && world.run_for(5ms) && age && *age >= 3ms && *age <= 5ms);
  auto slower = horus::World::with_settings(file, declare);
  steps = 0;
  CHECK(slower && slower->run_for(10ms) && steps > 0 && steps < without);
  CHECK(!horus::World::with_settings("/none.toml", declare));
}

static void background() {
  long looks = 0;
  horus::App app{"background"};
  app.node("a", [] {}).period(1ms);
  app.background([&looks](std::chrono::nanoseconds now) { looks += now.count() > 0; });
  app.releases(3);
  CHECK(app.run() == 0 && looks > 0);
}

int main(int count, char **arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (count == 1) return horus::main("robot", [](horus::App &) { throw std::runtime_error("no robot"); });
  if (what == "main") return horus::main("robot", Declared{});
  if (what == "world") {
    in_virtual_time();
    in_place();
    refused();
    failed_without_words();
    more_than_there_is_room_for();
    each_loss_is_counted_by_its_cause();
    latest_after_next();
    all_messages();
    of_bytes();
    background();
    if (count > 2) settings_and_ages(arguments[2]);
    std::puts("all of it holds");
    return 0;
  }
  horus::App app{"robot"};
  Declared{what == "throw" ? 1 : 0}(app);  // however busy the machine is, there is a first step
  app.releases(20);
  return app.run();
}

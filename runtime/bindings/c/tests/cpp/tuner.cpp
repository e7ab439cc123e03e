// Another program's parameters in C++: listed, set, watched and saved. HORUS_TEST_PROGRAM makes it the program.
#include "check.hpp"

#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

int main(int count, char **arguments) {
  using namespace std::chrono_literals;
  if (const char *own = std::getenv("HORUS_TEST_PROGRAM")) {
    horus::App app{own};
    auto gain = app.param("gain", 0.8, horus::ParamOptions().range(0.0, 4.0));
    auto turn = app.param("turn", 2);
    app.node("drive", [=](const horus::Cycle &) { CHECK(gain <= 4 && turn.get() < 9); }).period(5ms);
    return app.run();
  }
  CHECK(count == 2);
  std::optional<horus::Params> params;
  for (int tries = 0; !params && tries < 3000; tries++) {
    auto opened = horus::Params::open(arguments[1]);
    if (opened)
      params = opened.take();
    else
      std::this_thread::sleep_for(20ms);
  }
  CHECK(params);
  const auto all = params->list();
  CHECK(all.size() == 2 && std::string(all[0].name) == "gain" && all[0].value.number == 0.8 && all[0].greatest.number == 4);
  horus::ParamChange change;
  CHECK(!params->watch(0ns, change));
  CHECK(params->set({{"gain", 1.5}, {"turn", 3}}));
  CHECK(params->watch(60s, change) && change.before.number == 0.8 && change.now.value.number == 1.5);
  horus::Parameter about;
  CHECK(params->get("turn", about) && about.value.whole == 3 && about.from == HORUS_FROM_COMMAND);
  std::string why;
  try {
    params->set("gain", 9.0);
  } catch (const horus::Error &error) {
    why = error.what();
  }
  CHECK(why == "gain may be 0 to 4; it stays 1.5");
  CHECK(params->save({"gain"}) && params->get("gain", about) && about.saved_at > 0);
  CHECK(params->set("gain", 3.0) && params->load() && params->get("gain", about) && about.value.number == 1.5);
  CHECK(params->forget() && params->get("gain", about) && about.saved_at == 0);
  std::puts("all of it holds");
}

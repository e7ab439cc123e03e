// The same without exceptions: what is opened is a result, and calls are looked at.
#define HORUS_NO_EXCEPTIONS
#include "check.hpp"

#include <string>

using namespace std::chrono_literals;

int main() {
  auto refused = horus::Publisher<horus::CmdVel>::open("a//b");
  CHECK(!refused && !refused.error().empty());
  auto publisher = horus::Publisher<horus::CmdVel>::open("base.cmd");
  auto subscriber = horus::Subscriber<horus::CmdVel>::open("base.cmd");
  CHECK(publisher && subscriber);
  CHECK(publisher->try_send({0.5, 0}));
  {
    auto sample = subscriber->borrow();
    horus::CmdVel into;
    const horus::Outcome outcome = subscriber->try_recv(into);
    CHECK(outcome.is_error() && std::string(outcome.error()).find("is lent") != std::string::npos);
  }
  auto world = horus::World::make([](horus::App &app) {
    app.node("fails", [](const horus::Cycle &cycle) { cycle.fail("the wheel came off"); }).period(1ms);
  });
  CHECK(world && world->run_for(5ms).status() == HORUS_FAILED);
  CHECK(std::string(horus_error()) == "a node failed: the wheel came off");
  std::puts("all of it holds");
}

// Actions: in one process, in nodes, and as one end of two: `serve`, `act`.
#include <string>
#include <vector>

#include "check.hpp"

using namespace std::chrono_literals;

struct Count {
  std::uint64_t to;
};
HORUS_MESSAGE(Count, "test/Count", to);
struct Reached {
  std::uint64_t number;
};
HORUS_MESSAGE(Reached, "test/Reached", number);
struct Counted {
  std::uint64_t number;
};
HORUS_MESSAGE(Counted, "test/Counted", number);

using Counter = horus::ActionServer<Count, Reached, Counted>;
using Wanter = horus::ActionClient<Count, Reached, Counted>;
using News = horus::Progress<Reached, Counted>;

template <class F>
static horus_status refused(F call) {
  try {
    call();
  } catch (const horus::Error &error) {
    return error.status();
  }
  return HORUS_OK;
}

static News news(Wanter &client, const horus::GoalId &id) {
  News progress;
  while (!client.look(id, progress))
    if (!client.wait(10ms)) client.check_server();
  return progress;
}

static void goals_and_outcomes() {
  Wanter client("count");
  CHECK(!client.wait_until_served(1ms));
  Counter server("count");
  CHECK(client.wait_until_served(60s) && !Counter::open("count") && !server.goal());
  horus::GoalId id = {}, other = {};
  CHECK(client.send({3}, id));
  auto goal = server.goal(60s);
  CHECK(goal && goal->is_new() && goal->value().to == 3 && !goal->is_canceling() && std::memcmp(&goal->id(), &id, sizeof id) == 0);
  CHECK(client.send({4}, other) && server.goal() && refused([&] { news(client, other); }) == HORUS_GOAL_REJECTED);
  for (std::uint64_t number = 1; number < goal->value().to; number++) goal->feedback({number});
  CHECK(refused([&] { goal->canceled(); }) == HORUS_MISUSE && goal->succeed({3}));
  CHECK(refused([&] { goal->succeed({3}); }) == HORUS_CALL_OVER);
  CHECK(news(client, id).is_accepted());
  for (std::uint64_t number = 1; number < 3; number++) {
    const News progress = news(client, id);
    CHECK(progress.is_feedback() && progress.feedback.number == number);
  }
  News progress = news(client, id);
  CHECK(progress.has_succeeded() && progress.told.has_result && progress.result.number == 3);
  CHECK(refused([&] { client.look(id, progress); }) == HORUS_CALL_OVER);

  CHECK(client.send({3}, id) && server.goal(60s) && client.cancel(id));
  goal = server.goal();
  CHECK(goal && goal->is_canceling() && goal->canceled({1}));
  CHECK(news(client, id).is_accepted());
  progress = news(client, id);
  CHECK(progress.has_ended() && progress.told.status == HORUS_GOAL_CANCELED && progress.result.number == 1);
  CHECK(client.send({3}, id) && (goal = server.goal(60s)) && goal->abort("a wall"));
  CHECK(news(client, id).is_accepted() && std::string(news(client, id).told.reason) == "a wall");
  CHECK(client.send({3}, id));
  { Counter last = std::move(server); }
  CHECK(refused([&] { while (news(client, id)) continue; }) == HORUS_CALL_STOPPED);
}

static void in_nodes() {
  std::uint64_t outcome = 0;
  int feedbacks = 0;
  horus::World world([&](horus::App &app) {
    app.node("counts", [server = app.action<Count, Reached, Counted>("count", horus::Preemption::replace), counted = std::uint64_t(0)]() mutable {
         auto goal = server.goal();
         if (!goal) return;
         counted = goal->is_new() ? 1 : counted + 1;
         if (counted == goal->value().to)
           goal->succeed({counted});
         else
           goal->feedback({counted});
       }).period(10ms);
    app.node("wants", [&, client = app.action_client<Count, Reached, Counted>("count"), id = horus::GoalId{}, is_sent = false]() mutable {
         News progress;
         if (!is_sent) {
           is_sent = bool(client.send({5}, id));
         } else {
           while (outcome == 0 && client.look(id, progress)) {
             feedbacks += progress.is_feedback();
             if (progress.has_ended()) outcome = progress.result.number;
           }
         }
       }).period(10ms);
  });
  CHECK(world.run_for(200ms) && outcome == 5 && feedbacks == 4);
}

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "serve") {
    Counter server("count");
    auto goal = server.goal(60s);
    CHECK(goal);
    goal->feedback({1});
    CHECK(goal->succeed({goal->value().to}));
    return 0;
  }
  if (what == "act") {
    Wanter client("count");
    horus::GoalId id = {};
    CHECK(client.wait_until_served(60s) && client.send({static_cast<std::uint64_t>(std::atoi(argv[2]))}, id));
    News progress;
    while (!progress.has_ended()) progress = news(client, id);
    CHECK(progress.has_succeeded());
    std::printf("counted to %d\n", static_cast<int>(progress.result.number));
    return 0;
  }
  goals_and_outcomes();
  in_nodes();
  std::puts("all of it holds");
}

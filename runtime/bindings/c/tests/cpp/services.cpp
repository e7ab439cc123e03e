// Services: in one process, with bytes, in nodes, and as one end of two: `serve`, `call`.
#include <string>
#include <vector>

#include "check.hpp"

using namespace std::chrono_literals;

struct SaveMap {
  std::uint32_t slot;
};
HORUS_MESSAGE(SaveMap, "test/SaveMap", slot);
struct MapSaved {
  std::uint32_t cells;
};
HORUS_MESSAGE(MapSaved, "test/MapSaved", cells);

using Saver = horus::Server<SaveMap, MapSaved>;
using Asker = horus::Client<SaveMap, MapSaved>;

static MapSaved hundred(const SaveMap &request) { return {100 * request.slot}; }

template <class F>
static horus_status refused(F call) {
  try {
    call();
  } catch (const horus::Error &error) {
    return error.status();
  }
  return HORUS_OK;
}

static void answers_and_errors() {
  Asker client("map.save");
  MapSaved saved = {0};
  CHECK(refused([&] { client.call({1}, saved, 1s); }) == HORUS_CALL_NOT_SERVED);
  CHECK(!client.is_served() && !client.wait_until_served(1ms));
  Saver server("map.save");
  CHECK(!Saver::open("map.save") && client.is_served());

  CHECK(!server.serve(hundred));
  horus::Call call = client.ask({3});
  CHECK(call && !client.answer(call, saved) && client.unanswered() == 1);
  CHECK(server.serve(hundred, 60s));
  CHECK(client.wait(60s) && client.answer(call, saved) && saved.cells == 300 && !call);
  CHECK(refused([&] { client.answer(call, saved); }) == HORUS_CALL_OVER);

  // Parts, and an end.
  call = client.ask({3});
  CHECK(server.serve([](const SaveMap &request, horus::Answer<MapSaved> &answer) {
    for (std::uint32_t part = 1; part <= request.slot; part++) CHECK(answer.part({part}));
    answer.end();
  }));
  std::vector<std::uint32_t> parts;
  horus::Outcome part(HORUS_OK);
  while ((part = client.part(call, saved))) parts.push_back(saved.cells);
  CHECK(part.status() == HORUS_END && parts == (std::vector<std::uint32_t>{1, 2, 3}) && !call);

  // One that is answered later, one without an answer, and one that is given up.
  horus::Call first = client.ask({1});
  horus::Ticket ticket = {};
  CHECK(server.serve([&](const SaveMap &, horus::Answer<MapSaved> &answer) { ticket = answer.later(); }));
  {
    horus::Call second = client.ask({2});
    CHECK(server.serve([](const SaveMap &, horus::Answer<MapSaved> &) {}));
    CHECK(refused([&] { client.answer(second, saved); }) == HORUS_CALL_UNANSWERED);
    horus::Call third = client.ask({3});
  }
  CHECK(server.serve(hundred) && client.is_served() && client.late() == 1);
  CHECK(!client.answer(first, saved) && server.answer(ticket).send({7}) && client.answer(first, saved) && saved.cells == 7);

  std::vector<horus::Call> calls;
  for (int i = 0; i < 16; i++) calls.push_back(client.ask({0}));
  CHECK(refused([&] { client.ask({0}); }) == HORUS_CALL_TOO_MANY);
  calls.clear();
  CHECK(refused([&] { client.ask({0}); }) == HORUS_CALL_FULL);
  while (server.serve(hundred)) {
  }
  CHECK(refused([&] { client.call({0}, saved, 1ms); }) == HORUS_CALL_TIMED_OUT && server.undelivered() == 0);
  CHECK(server.serve(hundred));
  call = client.ask({1});
  { Saver last = std::move(server); }
  CHECK(refused([&] { client.answer(call, saved); }) == HORUS_CALL_STOPPED && !client.check_server());
}

static void of_bytes() {
  horus::Server<horus::Bytes, horus::Bytes> server("echo", 16, 8);
  horus::Client<horus::Bytes, horus::Bytes> client("echo", 16, 8);
  std::string said;
  horus::Call call = client.ask("hello");
  CHECK(server.serve([](const horus::Bytes &request) { return request; }));
  CHECK(client.answer(call, said) && said == "hello");
  CHECK(refused([&] { client.ask("more than sixteen bytes"); }) == HORUS_MISUSE);
  call = client.ask("nine letters");
  CHECK(refused([&] { server.serve([](const horus::Bytes &request) { return request; }); }) == HORUS_MISUSE);
  CHECK(refused([&] { client.answer(call, said); }) == HORUS_CALL_UNANSWERED);

  horus::Server<SaveMap, horus::Bytes> texts("text", 0, 8);
  horus::Client<SaveMap, horus::Bytes> asks("text", 0, 8);
  call = asks.ask({3});
  CHECK(texts.serve([](const SaveMap &request) { return horus::Bytes("12345678", request.slot); }));
  CHECK(asks.answer(call, said) && said == "123");
}

static void in_nodes() {
  int answers = 0;
  std::uint32_t last = 0;
  horus::Call call;
  horus::World world([&](horus::App &app) {
    app.service<SaveMap, MapSaved>("map.save", [](const SaveMap &request) { return MapSaved{request.slot + 1}; })
        .min_inter_arrival(1ms)
        .deadline(1ms);
    app.node("asks", [&, client = app.client<SaveMap, MapSaved>("map.save")](const horus::Cycle &) mutable {
         MapSaved saved;
         if (!call) {
           call = client.ask({last});
         } else if (client.answer(call, saved)) {
           last = saved.cells;
           answers++;
         }
       }).period(10ms);
  });
  CHECK(world.run_for(100ms));
  CHECK(answers == 5 && last == 5);
}

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "serve") {
    Saver server("map.save");
    for (int left = std::atoi(argv[2]); left > 0; left--) CHECK(server.serve(hundred, 60s));
    return 0;
  }
  if (what == "call") {
    Asker client("map.save");
    MapSaved saved = {0};
    CHECK(client.wait_until_served(60s) && client.call({static_cast<std::uint32_t>(std::atoi(argv[2]))}, saved, 60s));
    std::printf("%u cells\n", saved.cells);
    return 0;
  }
  answers_and_errors();
  of_bytes();
  in_nodes();
  std::puts("all of it holds");
}

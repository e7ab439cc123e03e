// What outlives the object that it came from: what is lent stays good, and what belongs to a program that has ended is refused.
#include "check.hpp"

#include <optional>
#include <string>

using namespace std::chrono_literals;
using horus::CmdVel;

template <class Work>
static void refused(const char *words, Work work) {
  std::string said = "nothing";
  try {
    work();
  } catch (const horus::Error &error) {
    said = error.what();
  }
  if (said.find(words) != std::string::npos) return;
  std::fprintf(stderr, "'%s' was said in place of '%s'\n", said.c_str(), words);
  std::exit(1);
}

static void what_is_lent_outlives_its_end() {
  horus::Subscriber<CmdVel> all{"cmd", horus::Options::reliable(4)};
  std::optional<horus::Publisher<CmdVel>> publisher{std::in_place, "cmd", horus::Options::reliable(4)};
  std::optional<horus::Subscriber<CmdVel>> subscriber{std::in_place, "cmd", horus::Options::reliable(4)};
  CHECK(publisher->try_send({1, 2}));
  auto sample = subscriber->borrow();
  subscriber.reset();
  CHECK(sample && sample->forward == 1);
  // The place of the subscriber is taken as long as its message is held.
  CHECK(publisher->subscribers() == 2);
  { const auto last = std::move(sample); }
  CHECK(publisher->subscribers() == 1);

  auto loan = publisher->loan();
  *loan = {3, 4};
  publisher.reset();
  CHECK(all.is_published());
  loan.publish();
  CHECK(!all.is_published());
  CmdVel got{};
  CHECK(all.try_recv(got) && got.forward == 1 && all.try_recv(got) && got.turn == 4);
  refused("this loan is empty", [&] { loan.publish(); });
}

static void an_unsent_loan_outlives_its_publisher() {
  std::optional<horus::Publisher<CmdVel>> publisher{std::in_place, "unsent"};
  horus::Subscriber<CmdVel> subscriber{"unsent"};
  {
    const auto loan = publisher->loan();
    publisher.reset();
    loan->forward = 9;
  }
  CHECK(!subscriber.is_published() && !subscriber.borrow());
}

// Another end takes the place of the first one, which has lent something.
static void an_end_is_assigned_to() {
  horus::Publisher<CmdVel> publisher{"first"};
  horus::Subscriber<CmdVel> subscriber{"first"};
  CHECK(publisher.try_send({5, 0}));
  const auto sample = subscriber.borrow();
  subscriber = horus::Subscriber<CmdVel>{"second"};
  CHECK(sample->forward == 5 && !subscriber.borrow());
  const auto moved = std::move(subscriber);
  refused("the subscriber is null", [&] { (void)subscriber.borrow(); });
}

static void bytes_outlive_their_ends() {
  std::optional<horus::Publisher<horus::Bytes>> publisher{std::in_place, "log", 64};
  std::optional<horus::Subscriber<horus::Bytes>> subscriber{std::in_place, "log", 64};
  auto loan = publisher->loan(5);
  publisher.reset();
  std::memcpy(loan->data, "slips", loan->size);
  loan.publish(4);
  auto sample = subscriber->borrow();
  subscriber.reset();
  CHECK(sample && sample->text() == "slip");
  const auto moved = std::move(sample);
  CHECK(moved->size == 4 && sample->size == 0);
}

// Each has been used once, so that there is something to be kept.
static void ports_outlive_their_world() {
  std::optional<horus::Input<CmdVel>> input;
  std::optional<horus::Output<CmdVel>> output;
  std::optional<horus::Node> node;
  {
    horus::World world{[&](horus::App &app) {
      input = app.input<CmdVel>("in");
      output = app.output<CmdVel>("out");
      node = app.node("a", [&] { output->set({input->latest() ? 1.0 : 0.0, 0}); });
      node->period(1ms);
    }};
    CHECK(world.publish("in", CmdVel{1, 0}) && world.run_for(3ms) && world.last<CmdVel>("out")->forward == 1);
    refused("in no step of this thread", [&] { (void)input->latest(); });
  }
  refused("whose program has ended", [&] { (void)input->latest(); });
  refused("whose program has ended", [&] { (void)output->set({0, 0}); });
  auto other = output;
  output.reset();
  refused("whose program has ended", [&] { (void)other->set({0, 0}); });
  CHECK(input->missed() == 0);
  node->period(2ms);
  CHECK(std::string(horus_error()).find("its program has ended") != std::string::npos);
}

static void ports_outlive_their_app() {
  std::optional<horus::Input<CmdVel>> input, unused;
  long steps = 0;
  {
    horus::App app{"ends"};
    input = app.input<CmdVel>("in");
    app.node("a", [&] { steps += input->latest() == nullptr; }).period(1ms);
    CHECK(app.run_in_place(10) && steps == 10);
    app.node("late", [] {});
    CHECK(std::string(horus_error()).find("the app is null") != std::string::npos);
    horus::App never{"never"};
    unused = never.input<CmdVel>("in");
  }
  refused("whose program has ended", [&] { (void)input->fresh(); });
  CmdVel into;
  refused("whose program has ended", [&] { (void)unused->next(into); });
}

// It holds neither a publisher's place nor the file: the topic is made anew, and otherwise.
static void an_output_that_outlives_its_app_leaves_its_topic() {
  std::optional<horus::Output<CmdVel>> output;
  {
    horus::App app{"leaves"};
    output = app.output<CmdVel>("left");
    app.node("a", [&] { CHECK(output->set({1, 0})); }).period(1ms);
    CHECK(app.run_in_place(3));
  }
  horus::Publisher<CmdVel> another{"left", horus::Options::reliable(4)};
  CHECK(another.try_send({2, 0}));
  refused("whose program has ended", [&] { (void)output->set({3, 0}); });
  refused("whose program has ended", [&] { (void)output->lost(); });
}

int main() {
  what_is_lent_outlives_its_end();
  an_unsent_loan_outlives_its_publisher();
  an_end_is_assigned_to();
  bytes_outlive_their_ends();
  ports_outlive_their_world();
  ports_outlive_their_app();
  an_output_that_outlives_its_app_leaves_its_topic();
  std::puts("all of it holds");
}

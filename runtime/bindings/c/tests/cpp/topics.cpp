// Topics in C++: by copy, in place, of bytes, several at once, and what is refused.
#include "check.hpp"

#include <algorithm>
#include <string>

struct WheelSpeed {
  double left, right;
};
HORUS_MESSAGE(WheelSpeed, "example/WheelSpeed", left, right);

namespace other {
struct WheelSpeed {
  double left, rigth;
};
struct Everything {
  std::uint64_t number;
  std::array<std::array<float, 3>, 2> matrix;
  ::WheelSpeed wheels[2];
  std::int16_t small[4];
  std::int8_t least[8];
};
}  // namespace other
HORUS_MESSAGE(other::WheelSpeed, "example/WheelSpeed", left, rigth);
HORUS_MESSAGE(other::Everything, "example/Everything", number, matrix, wheels, small, least);

// Two messages of one name inside of another.
namespace one {
struct Inner {
  double x;
};
}  // namespace one
namespace two {
struct Inner {
  double y;
};
struct Both {
  ::one::Inner first;
  Inner second;
};
struct Same {
  ::one::Inner first, second;
};
}  // namespace two
HORUS_MESSAGE(one::Inner, "a/Inner", x);
HORUS_MESSAGE(two::Inner, "a/Inner", y);
HORUS_MESSAGE(two::Both, "a/Both", first, second);
HORUS_MESSAGE(two::Same, "a/Same", first, second);

static void one_name_for_two_messages() {
  const auto both = horus::Publisher<two::Both>::open("both");
  const char *said = "`a/Inner` is described twice";
  CHECK(!both && both.error().find("the message a/Both: ") == 0 && both.error().find(said) != std::string::npos);
  CHECK(!horus::Subscriber<two::Both>::open("both") && horus::Publisher<two::Same>::open("same"));
  const auto world = horus::World::make([](horus::App &app) { (void)app.input<two::Both>("both"); });
  CHECK(!world && world.error() == both.error());
}

static void by_copy_and_in_place() {
  horus::Subscriber<WheelSpeed> subscriber{"wheels", horus::Options::reliable(4)};
  horus::Publisher<WheelSpeed> publisher{"wheels", horus::Options::reliable(4)};
  WheelSpeed got{};
  horus::Received about{};
  CHECK(!subscriber.try_recv(got) && publisher.subscribers() == 1 && subscriber.is_published());
  CHECK(publisher.try_send({0.5, 0.25}) && subscriber.try_recv(got, &about) && got.right == 0.25 && about.sequence == 0);
  {
    auto loan = publisher.loan();
    loan->left = 7;
    auto moved = std::move(loan);
    CHECK(moved && !loan);
    moved.publish();
    (void)publisher.loan();  // given back unsent
  }
  {
    auto sample = subscriber.borrow();
    CHECK(sample && sample->left == 7);
    bool refused = false;
    try {
      (void)subscriber.try_recv(got);
    } catch (const horus::Error &error) {
      refused = error.status() == HORUS_MISUSE && std::string(error.what()).find("is lent") != std::string::npos;
    }
    CHECK(refused);
  }
  CHECK(!subscriber.borrow() && subscriber.missed() == 0);
  for (int i = 0; i < 4; i++) CHECK(publisher.send({double(i), 0}));
  CHECK(!publisher.try_send({4, 0}) && publisher.reap() == 0 && publisher.check());
  CHECK(subscriber.recv(got, std::chrono::seconds(1)) && got.left == 0);
}

static void refused() {
  horus::Publisher<WheelSpeed> publisher{"refused"};
  std::string said;
  try {
    horus::Subscriber<other::WheelSpeed> wrong{"refused"};
  } catch (const horus::Error &error) {
    said = error.what();
  }
  CHECK(said.find("rigth") != std::string::npos);
  CHECK(!horus::Subscriber<other::WheelSpeed>::open("refused"));
  CHECK(horus::Subscriber<WheelSpeed>::open("refused"));
}

static void bytes_and_waiting() {
  horus::Subscriber<WheelSpeed> silent{"silent"};
  WheelSpeed none;
  CHECK(!silent.recv(none, std::chrono::nanoseconds(-5)) && !horus::wait_any(std::chrono::seconds(-1), silent));
  horus::Publisher<horus::Bytes> log{"log", 64};
  horus::Subscriber<horus::Bytes> logged{"log", 64};
  horus::Publisher<other::Everything> all{"all"};
  horus::Subscriber<other::Everything> seen{"all"};
  CHECK(!horus::wait_any(std::chrono::milliseconds(1), logged, seen));
  CHECK(all.try_send({}) && horus::wait_any(std::chrono::seconds(1), logged, seen) == 1);
  CHECK(log.try_send("left wheel slips") && horus::wait_any(horus::forever, logged, seen) == 0);
  auto sample = logged.borrow();
  CHECK(sample && sample->text() == "left wheel slips" && sample->size == 16 && *sample->begin() == 'l');
  bool too_long = false;
  try {
    (void)log.try_send(std::string(65, 'x'));
  } catch (const horus::Error &error) {
    too_long = std::string(error.what()).find("65 bytes is too long") != std::string::npos;
  }
  CHECK(too_long);
}

// What is known of a topic, and ways to wait for it.
static void shapes_and_waiting() {
  using namespace std::chrono_literals;
  horus::Publisher<WheelSpeed> publisher{"shape", horus::Options::reliable(8).never_wake()};
  horus::Subscriber<WheelSpeed> subscriber{"shape", horus::Options().poll(100us)};
  CHECK(subscriber.wait_until_published(1s) && subscriber.check() && !subscriber.wait(1ms));
  CHECK(publisher.send({1, 2}) && subscriber.wait() && subscriber.wait(0ns));
  CHECK(publisher.shape().delivery_policy == HORUS_RELIABLE && subscriber.shape().capacity == 8 && subscriber.shape().message_bytes == 16);
  CHECK(!horus::Subscriber<WheelSpeed>::open("shape", horus::Options().spin_then_sleep(5us)));
  CHECK(horus::Subscriber<WheelSpeed>::open("other", horus::Options().spin_then_sleep(5us)));
}

static void bytes_by_copy_and_in_place() {
  using namespace std::chrono_literals;
  horus::Publisher<horus::Bytes> publisher{"texts", 32, horus::Options::reliable(4).stamped()};
  horus::Subscriber<horus::Bytes> subscriber{"texts", 32};
  std::string text = "none";
  std::vector<std::uint8_t> bytes;
  horus::Received about{};
  CHECK(!subscriber.try_recv(text) && !subscriber.recv(text, 1ms) && text == "none");
  auto loan = publisher.loan(6);
  CHECK(loan && loan->size == 6);
  std::copy_n("slips?", 6, loan->begin());
  loan.publish(5);
  CHECK(publisher.send("again") && publisher.subscribers() == 1 && publisher.reap() == 0 && publisher.check());
  CHECK(subscriber.recv(text, horus::forever, &about) && text == "slips" && about.bytes == 5 && about.sequence == 0 && about.sent_ns > 0);
  CHECK(subscriber.try_recv(bytes) && bytes == std::vector<std::uint8_t>({'a', 'g', 'a', 'i', 'n'}));
  CHECK(subscriber.is_published() && subscriber.check() && subscriber.shape().message_bytes == 32 && publisher.shape().capacity == 4);
  // What is sent may be a text, a container of bytes, or any memory.
  const std::array<char, 3> array = {'a', 'b', 'c'};
  CHECK(publisher.try_send(bytes) && publisher.try_send(text) && publisher.try_send(array) && publisher.try_send({&about, 0}));
  CHECK(subscriber.recv(text) && text == "again" && subscriber.recv(text) && text == "slips");
  CHECK(subscriber.recv(text) && text == "abc" && subscriber.recv(text) && text.empty());
  bool refused = false;
  const auto held = publisher.loan(1);
  try {
    (void)publisher.loan(1);
  } catch (const horus::Error &error) {
    refused = error.status() == HORUS_MISUSE;
  }
  CHECK(refused);
}

// Every method of both ends, for a struct and for bytes: what differs is how a topic is opened, how long a loan is, and what is received into.
template <class T>
static constexpr bool is_bytes = std::is_same_v<T, horus::Bytes>;

template <class End, class T>
static End opened() {
  const auto options = horus::Options::reliable(4);
  if constexpr (is_bytes<T>)
    return End::open("every.bytes", 16, options).take();
  else
    return End::open("every.struct", options).take();
}

template <class T>
static horus::Loan<T> lent(horus::Publisher<T> &publisher) {
  if constexpr (is_bytes<T>)
    return publisher.loan(16);
  else
    return publisher.loan();
}

template <class T, class Into>
static void every_method(const T &message, Into into) {
  using namespace std::chrono_literals;
  auto subscriber = opened<horus::Subscriber<T>, T>();
  CHECK(!subscriber.is_published() && !subscriber.wait_until_published(1ns));
  auto publisher = opened<horus::Publisher<T>, T>();
  CHECK(subscriber.wait_until_published() && subscriber.is_published() && publisher.check() && subscriber.check());
  CHECK(publisher.subscribers() == 1 && publisher.reap() == 0 && subscriber.missed() == 0 && !subscriber.wait(0ns));
  CHECK(publisher.shape().message_bytes == 16 && subscriber.shape().capacity == 4);
  horus::Received about{};
  CHECK(publisher.try_send(message) && publisher.send(message) && publisher.send(message, 1s));
  CHECK(subscriber.wait() && horus::wait_any(1s, subscriber) == 0);
  CHECK(subscriber.try_recv(into) && subscriber.recv(into) && subscriber.recv(into, 1s, &about) && about.bytes == 16);
  CHECK(!subscriber.try_recv(into) && !subscriber.recv(into, 0ns));
  lent(publisher).publish();
  {
    const auto sample = subscriber.borrow();
    CHECK(sample && sample.about().sequence == 3 && sample.about().bytes == 16);
  }
  CHECK(!subscriber.borrow());
}

static void journal() {
  CHECK(horus::journal(HORUS_JOURNAL_WARNING, "a wheel slips", {{"HORUS_WHEEL", "left"}}) && horus::journal(HORUS_JOURNAL_INFO, "it rolls"));
  bool refused = false;
  try {
    (void)horus::journal(HORUS_JOURNAL_INFO, "a wheel slips", {{"wheel", "left"}});
  } catch (const horus::Error &) {
    refused = true;
  }
  CHECK(refused);
}

int main() {
  shapes_and_waiting();
  bytes_by_copy_and_in_place();
  every_method(WheelSpeed{0.5, 0.25}, WheelSpeed{});
  every_method(horus::Bytes("left wheel slips"), std::string());
  journal();
  by_copy_and_in_place();
  refused();
  one_name_for_two_messages();
  bytes_and_waiting();
  CHECK(horus::layout_hash<horus::CmdVel>() != 0 && horus::layout_hash<horus::JointState>() != 0);
  std::puts("all of it holds");
}

// A plug-in: a shared object that uses the library for a program that knows nothing of it. See ../c/plugins.c.
#include "check.hpp"

struct Count {
  std::uint64_t number;
};
HORUS_MESSAGE(Count, "example/Count", number);

extern "C" std::uint64_t use(std::uint64_t number) {
  static horus::Publisher<Count> publisher{"plugin"};
  horus::Subscriber<Count> subscriber{"plugin"};
  CHECK(publisher.try_send({number}));
  Count got{};
  CHECK(subscriber.try_recv(got));
  try {
    horus::Publisher<Count> refused{"a//b"};
  } catch (const horus::Error &) {
    return got.number;
  }
  return 0;
}

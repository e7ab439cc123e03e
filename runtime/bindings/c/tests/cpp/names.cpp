// Structs of any name in any namespace become messages, those that horus has a struct or a class of among them.
#include "check.hpp"

struct Imu {
  double x;
};
HORUS_MESSAGE(Imu, "own/Imu", x);
struct Sample {
  Imu first, second;
};
HORUS_MESSAGE(Sample, "own/Sample", first, second);
struct Node {
  float x;
};
HORUS_MESSAGE(Node, "own/Node", x);
struct Error {
  std::uint32_t code;
};
HORUS_MESSAGE(Error, "own/Error", code);
struct Message {
  std::uint32_t x;
};
HORUS_MESSAGE(::Message, "own/Message", x);
struct Description {
  std::uint8_t name[4];
};
HORUS_MESSAGE(Description, "own/Description", name);
struct Type {
  Description to;
};
HORUS_MESSAGE(Type, "own/Type", to);

namespace robot {
struct Imu {
  double roll, pitch;
};
HORUS_MESSAGE(Imu, "robot/Imu", roll, pitch);
struct to {
  Imu to;
};
HORUS_MESSAGE(to, "robot/Same", to);
namespace arm {
struct Publisher {
  Imu imu;
  ::Imu other;
};
HORUS_MESSAGE(Publisher, "arm/Publisher", imu, other);
struct Driver {
  struct State {
    std::uint64_t steps;
  };
};
HORUS_MESSAGE(Driver::State, "arm/State", steps);
// One that is told of from outside of its namespace.
struct World {
  double x;
};
}  // namespace arm
}  // namespace robot
HORUS_MESSAGE(robot::arm::World, "arm/World", x);

namespace {
struct Outcome {
  std::int16_t x;
};
HORUS_MESSAGE(Outcome, "own/Outcome", x);

// Whether it is carried under its own name.
template <class T>
void carries(const char *type_name, const T &sent) {
  CHECK(std::string(horus::Message<T>::name()) == type_name);
  std::string topic = type_name;
  topic[topic.find('/')] = '.';
  horus::Subscriber<T> seen{topic};
  horus::Publisher<T> publisher{topic};
  publisher.send(sent);
  T got{};
  CHECK(seen.try_recv(got) && std::memcmp(&got, &sent, sizeof(T)) == 0);
}
}  // namespace

int main() {
  carries("own/Imu", Imu{1.0});
  carries("own/Sample", Sample{{1.0}, {2.0}});
  carries("own/Node", Node{1.0F});
  carries("own/Error", Error{7});
  carries("own/Message", Message{7});
  carries("own/Description", Description{{1, 2, 3, 4}});
  carries("own/Type", Type{{{1, 2, 3, 4}}});
  carries("robot/Imu", robot::Imu{1.0, 2.0});
  carries("robot/Same", robot::to{{1.0, 2.0}});
  carries("arm/Publisher", robot::arm::Publisher{{1.0, 2.0}, {3.0}});
  carries("arm/State", robot::arm::Driver::State{7});
  carries("arm/World", robot::arm::World{1.0});
  carries("own/Outcome", Outcome{7});
  CHECK(horus::layout_hash<Imu>() != horus::layout_hash<horus::Imu>());
  CHECK(horus::layout_hash<Imu>() != horus::layout_hash<robot::Imu>());
  std::puts("all of it holds");
}

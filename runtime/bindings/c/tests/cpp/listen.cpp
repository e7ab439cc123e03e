// Prints as many messages as asked, as they come.
#include <horus/horus.hpp>

#include <cstdio>
#include <cstdlib>

struct WheelSpeed {
  double left, right;
};
HORUS_MESSAGE(WheelSpeed, "example/WheelSpeed", left, right);

int main(int count, char **arguments) {
  horus::Subscriber<WheelSpeed> wheels{"wheels"};
  for (long left = count > 1 ? std::atol(arguments[1]) : 0; left > 0; left--) {
    WheelSpeed speed;
    if (!wheels.recv(speed)) return 1;
    std::printf("%g %g\n", speed.left, speed.right);
  }
  return 0;
}

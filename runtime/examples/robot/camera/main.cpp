// The camera: five pictures a second of what the robot would see if its room had stripes.
//
// A picture of 900 kB is not copied. The program writes it where its subscribers read it: in a place of the topic, which the publisher lends
// (docs/languages.md, "In place"). An output of a node takes messages up to 64 KiB, so the node has a publisher of its own.
#include <horus/horus.hpp>

#include <cmath>
#include <cstdint>

using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t width = 640, height = 480;
// A byte a pixel: the first of the encodings (`horus message show horus/ImageVga`).
constexpr std::uint32_t mono8 = 1;
// The camera looks at a circle of stripes, one every 10 degrees, through a lens of 60 degrees.
constexpr double stripes = 36, lens = 1.047;

/// The heading of the base, rad.
double yaw(const horus::Odometry &odom) { return 2.0 * std::atan2(odom.orientation.z, odom.orientation.w); }

}  // namespace

void camera(horus::App &app) {
  auto odom = app.input<horus::Odometry>("odom");
  horus::Publisher<horus::ImageVga> pictures{"camera.front"};
  auto step = [odom = std::move(odom), pictures = std::move(pictures)](const horus::Cycle &cycle) mutable {
    const auto seen = odom.latest();
    if (!seen) return;
    const double heading = yaw(*seen);
    auto picture = pictures.loan();
    if (!picture) return; // subscribers hold all places: this picture is left out
    picture->stamp_ns = std::uint64_t(cycle.release().count());
    picture->width = width;
    picture->height = height;
    picture->stride = width;
    picture->encoding_code = mono8;
    picture->length = width * height;
    for (std::uint32_t column = 0; column < width; ++column) {
      const double angle = heading + lens * (0.5 - double(column) / width);
      const auto grey = std::uint8_t(128 + 100 * std::sin(stripes * angle));
      for (std::uint32_t row = 0; row < height; ++row) picture->data[row * width + column] = grey;
    }
    picture.publish();
  };
  app.node("camera", std::move(step)).period(200ms);
}

int main() { return horus::main("robot-camera", camera); }

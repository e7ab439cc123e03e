// Reads the test vectors of docs/layout-hash.md: the structs of the messages, and of the vectors' own ones, have these hashes, sizes and alignments.
// Argument: the file.
#include "check.hpp"

#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace test {
struct EveryNumber {
  double a;
  std::uint64_t b;
  std::int64_t c;
  float d;
  std::uint32_t e;
  std::int32_t f;
  std::uint16_t g;
  std::int16_t h;
  std::uint8_t i;
  std::int8_t j;
  std::array<std::uint8_t, 6> k;
};
struct Place {
  double x, y;
};
struct Step {
  Place from, to;
};
struct Path {
  std::uint64_t count;
  float matrix[2][3];
  std::array<Step, 2> steps;
};
struct Note {
  std::uint8_t message[8];
  std::uint64_t number;
};
}  // namespace test
HORUS_MESSAGE(test::EveryNumber, "test/EveryNumber", a, b, c, d, e, f, g, h, i, j, k);
HORUS_MESSAGE(test::Place, "test/Place", x, y);
HORUS_MESSAGE(test::Step, "test/Step", from, to);
HORUS_MESSAGE(test::Path, "test/Path", count, matrix, steps);
HORUS_MESSAGE(test::Note, "test/Note", message, number);

struct Vector {
  std::uint64_t hash;
  std::size_t bytes, align;
};

static std::map<std::string, Vector> read(const char *path) {
  std::map<std::string, Vector> vectors;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("hash ", 0) != 0) continue;
    Vector vector{};
    std::string hash, word, name;
    std::istringstream(line) >> word >> hash >> word >> vector.bytes >> word >> vector.align;
    vector.hash = std::stoull(hash, nullptr, 16);
    CHECK(std::getline(file, line));
    std::istringstream(line) >> word >> name;
    vectors[name] = vector;
  }
  return vectors;
}

// Takes the messages' vectors off the list.
template <class... Messages>
static void check(std::map<std::string, Vector> &vectors) {
  const auto one = [&](const char *name, std::uint64_t hash, std::size_t bytes, std::size_t align) {
    const auto found = vectors.find(name);
    if (found == vectors.end() || found->second.hash != hash || found->second.bytes != bytes || found->second.align != align) {
      std::fprintf(stderr, "%s: hash %016llx bytes %zu align %zu\n", name, static_cast<unsigned long long>(hash), bytes, align);
      std::exit(1);
    }
    vectors.erase(found);
  };
  (one(horus::Message<Messages>::name(), horus::layout_hash<Messages>(), sizeof(Messages), alignof(Messages)), ...);
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  auto vectors = read(arguments[1]);
  check<horus::Vector3, horus::Quaternion, horus::Pose2D, horus::Pose3D, horus::Twist, horus::CmdVel, horus::BatteryState, horus::Imu,
        horus::Odometry, horus::JointState, horus::JointCommand, horus::LaserScan, horus::Point, horus::PointCloud100, horus::PointCloud1k,
        horus::PointCloud10k, horus::ImageVga, horus::ImageHd, horus::ImageFullHd, horus::Stamp>(vectors);
  check<test::EveryNumber, test::Path, test::Note>(vectors);
  // Standard C++ has no number of 128 bits.
  for (const auto &[name, vector] : vectors) CHECK(name == "test/Wide" && vector.bytes == 32);
  CHECK(vectors.size() == 1);
  std::puts("all of it holds");
}

/* Frames in C: sent, looked up, refused; and a latched topic. */
#include "check.h"

static void refused(horus_broadcaster *base, horus_frames *frames, horus_transform *at) {
  horus_transform none = {{0, 0, 0}, {0, 0, 0, 0}};
  CHECK(horus_broadcaster_open("map", "base", NULL) == NULL);
  SAYS("base is in odom already");
  CHECK(horus_broadcaster_open(NULL, "base", NULL) == NULL);
  SAYS("the name of the parent is null");
  CHECK(horus_broadcaster_send(base, 2000, &none) == HORUS_FAILED);
  SAYS("its rotation has the length 0");
  CHECK(horus_broadcaster_send(base, 2000, NULL) == HORUS_MISUSE);
  CHECK(horus_frames_at(frames, "odom", "bse", 1000, at) == HORUS_FAILED);
  SAYS("the nearest name is base");
  CHECK(horus_frames_at(frames, "odom", "base", 2000, at) == HORUS_FAILED);
  SAYS("is known until");
  CHECK(horus_frames_wait(frames, "odom", "base", 2000, 1000000, at) == HORUS_FAILED);
  CHECK(horus_frames_at(frames, "odom", "base", 1000, NULL) == HORUS_MISUSE);
  CHECK(horus_frames_at(NULL, "odom", "base", 1000, at) == HORUS_MISUSE);
  CHECK(horus_frames_at((horus_frames *)base, "odom", "base", 1000, at) == HORUS_MISUSE);
  SAYS("this is no set of frames");
}

static void latched(void) {
  horus_layout *layout = horus_layout_parse("message example/Count\n number u64");
  horus_options options = HORUS_OPTIONS;
  horus_publisher *publisher;
  horus_subscriber *subscriber;
  uint64_t number = 7, got = 0;
  options.latched = 1;
  publisher = horus_publisher_open("dock", layout, &options);
  CHECK(horus_publisher_try_send(publisher, &number, sizeof number) == HORUS_OK);
  CHECK(horus_publisher_close(publisher) == HORUS_OK);
  subscriber = horus_subscriber_open("dock", layout, &options);
  CHECK(horus_subscriber_try_recv(subscriber, &got, sizeof got, NULL) == HORUS_OK && got == 7);
  CHECK(horus_subscriber_close(subscriber) == HORUS_OK && horus_layout_close(layout) == HORUS_OK);
}

int main(void) {
  horus_static_broadcaster *mounted = horus_static_broadcaster_open(NULL);
  horus_broadcaster *base = horus_broadcaster_open("odom", "base", NULL);
  horus_frames *frames = horus_frames_open(NULL);
  horus_transform at = {{0, 0.5, 0}, {0, 0, 0, 1}};
  uint64_t time = 9;
  CHECK(horus_static_broadcaster_add(mounted, "base", "lidar", &at) == HORUS_OK);
  CHECK(horus_static_broadcaster_add(mounted, "lidar", "base", &at) == HORUS_FAILED);
  CHECK(horus_static_broadcaster_add_urdf(mounted, "/nowhere.urdf") == HORUS_FAILED);
  SAYS("/nowhere.urdf");
  at.translation[0] = 1, at.translation[1] = 0;
  CHECK(horus_broadcaster_send(base, 1000, &at) == HORUS_OK);
  CHECK(horus_frames_at(frames, "odom", "lidar", 1000, &at) == HORUS_OK);
  CHECK(at.translation[0] == 1 && at.translation[1] == 0.5 && at.rotation[3] == 1);
  CHECK(horus_frames_newest(frames, "odom", "lidar", &time, &at) == HORUS_OK && time == 1000);
  CHECK(horus_frames_newest(frames, "base", "lidar", &time, &at) == HORUS_OK && time == 0);
  CHECK(horus_frames_newest(frames, "base", "lidar", NULL, &at) == HORUS_OK);
  refused(base, frames, &at);
  CHECK(horus_broadcaster_close(base) == HORUS_OK && horus_broadcaster_close(NULL) == HORUS_OK);
  CHECK(horus_frames_at(frames, "odom", "base", 1000, &at) == HORUS_FAILED);
  CHECK(horus_static_broadcaster_close(mounted) == HORUS_OK && horus_frames_close(frames) == HORUS_OK);
  latched();
  puts("all of it holds");
  return 0;
}

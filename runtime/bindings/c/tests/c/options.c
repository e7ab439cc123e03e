/* Options say how long they are: those of a later release are taken where they ask for nothing more, and others are refused. */
#include "check.h"

typedef struct {
  horus_options known;
  uint64_t later;
} later_options;

static void that_are_too_short(horus_layout *layout) {
  horus_options options = HORUS_OPTIONS;
  options.size--;
  CHECK(horus_publisher_open("short", layout, &options) == NULL);
  SAYS("begin with horus_options options = HORUS_OPTIONS");
}

static void wait_strategies(horus_layout *layout) {
  horus_options options = HORUS_OPTIONS;
  horus_subscriber *subscriber;
  horus_publisher *publisher;
  uint64_t number = 7, got = 0;
  options.delivery_policy = HORUS_RELIABLE, options.capacity = 4, options.never_wake = 1;
  publisher = horus_publisher_open("never.wakes", layout, &options);
  options.wait_strategy = HORUS_WAIT_SPIN_THEN_SLEEP, options.wait_strategy_ns = 1000;
  CHECK(horus_subscriber_open("never.wakes", layout, &options) == NULL);
  SAYS("never wake a subscriber");
  options.wait_strategy = HORUS_WAIT_POLL, options.wait_strategy_ns = 0;
  CHECK(horus_subscriber_open("never.wakes", layout, &options) == NULL);
  SAYS("this wait strategy needs a time: wait_strategy_ns is 0");
  options.wait_strategy_ns = 100000;
  subscriber = horus_subscriber_open("never.wakes", layout, &options);
  CHECK(horus_publisher_try_send(publisher, &number, sizeof number) == HORUS_OK);
  CHECK(horus_subscriber_recv(subscriber, &got, sizeof got, NULL, -1) == HORUS_OK && got == 7);
  CHECK(horus_subscriber_recv(subscriber, &got, sizeof got, NULL, 1000000) == HORUS_EMPTY);
  CHECK(horus_subscriber_close(subscriber) == HORUS_OK && horus_publisher_close(publisher) == HORUS_OK);
  options.never_wake = 0, options.wait_strategy = HORUS_WAIT_SPIN_THEN_SLEEP;
  subscriber = horus_subscriber_open("wakes", layout, &options);
  CHECK(subscriber != NULL && horus_subscriber_close(subscriber) == HORUS_OK);
  options.wait_strategy = 9;
  CHECK(horus_subscriber_open("wakes", layout, &options) == NULL);
  SAYS("there is no wait strategy 9");
}

/* Who takes a topic as it is can ask how it is. */
static void shapes(horus_layout *layout) {
  horus_options options = HORUS_OPTIONS;
  horus_publisher *publisher;
  horus_subscriber *subscriber;
  horus_layout *of_100 = horus_layout_of_bytes(100), *of_50 = horus_layout_of_bytes(50);
  horus_publisher *log;
  horus_subscriber *logged;
  horus_shape shape;
  options.delivery_policy = HORUS_RELIABLE, options.capacity = 32;
  subscriber = horus_subscriber_open("shape", layout, NULL);
  CHECK(horus_subscriber_wait_until_published(subscriber, 2000000) == HORUS_EMPTY);
  publisher = horus_publisher_open("shape", layout, &options);
  CHECK(horus_subscriber_wait_until_published(subscriber, -1) == HORUS_OK);
  CHECK(horus_subscriber_shape(subscriber, &shape) == HORUS_OK && shape.message_bytes == 8 && shape.delivery_policy == HORUS_RELIABLE);
  CHECK(horus_publisher_shape(publisher, &shape) == HORUS_OK && shape.capacity == 32);
  CHECK(horus_publisher_shape(publisher, NULL) == HORUS_MISUSE && horus_subscriber_shape(NULL, &shape) == HORUS_MISUSE);
  log = horus_publisher_open("shape.log", of_100, NULL), logged = horus_subscriber_open("shape.log", of_50, NULL);
  CHECK(horus_publisher_shape(log, &shape) == HORUS_OK && shape.message_bytes == 100 && shape.delivery_policy == HORUS_LATEST);
  CHECK(horus_publisher_check(log) == HORUS_OK && horus_publisher_close(log) == HORUS_OK);
  CHECK(logged == NULL || horus_subscriber_close(logged) == HORUS_OK);
  logged = horus_subscriber_open("shape.other", of_50, &options);
  CHECK(horus_subscriber_shape(logged, &shape) == HORUS_OK && shape.message_bytes == 50 && shape.capacity == 32);
  CHECK(horus_subscriber_check(logged) == HORUS_OK && horus_subscriber_is_published(logged) == HORUS_EMPTY);
  CHECK(horus_subscriber_close(logged) == HORUS_OK);
  CHECK(horus_layout_close(of_100) == HORUS_OK && horus_layout_close(of_50) == HORUS_OK);
  CHECK(horus_subscriber_close(subscriber) == HORUS_OK && horus_publisher_close(publisher) == HORUS_OK);
}

int main(void) {
  horus_layout *layout = horus_layout_parse("message example/Count\n number u64");
  horus_options options = HORUS_OPTIONS, zeros;
  later_options later = {HORUS_OPTIONS, 0};
  horus_publisher *publisher = horus_publisher_open("counts", layout, &options);
  CHECK(publisher != NULL && horus_publisher_close(publisher) == HORUS_OK);

  later.known.size = sizeof later;
  publisher = horus_publisher_open("counts", layout, &later.known);
  CHECK(publisher != NULL && horus_publisher_close(publisher) == HORUS_OK);
  later.later = 1;
  CHECK(horus_publisher_open("counts", layout, &later.known) == NULL);
  SAYS("ask for something that this library does not know");

  memset(&zeros, 0, sizeof zeros);
  CHECK(horus_publisher_open("counts", layout, &zeros) == NULL);
  SAYS("begin with horus_options options = HORUS_OPTIONS");
  memset(&zeros, 0xa5, sizeof zeros); /* as memory that was never written */
  CHECK(horus_publisher_open("counts", layout, &zeros) == NULL);
  SAYS("begin with horus_options options = HORUS_OPTIONS");
  that_are_too_short(layout);
  wait_strategies(layout);
  shapes(layout);
  CHECK(horus_layout_close(layout) == HORUS_OK);
  puts("all of it holds");
  return 0;
}

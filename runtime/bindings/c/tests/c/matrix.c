/* Every function of a publisher and of a subscriber, for messages of a struct and for bytes. The test looks whether a function is absent here. */
#include "check.h"

enum { BYTES = 24 };

/* All of them, with messages of BYTES bytes. */
static void all(const char *topic, horus_layout *layout) {
  horus_options options = HORUS_OPTIONS;
  horus_publisher *publisher;
  horus_subscriber *subscriber;
  horus_received about;
  horus_shape shape;
  char sent[BYTES] = "left wheel slips", got[BYTES] = {0};
  const void *found;
  void *place;
  size_t ready = 1;
  options.delivery_policy = HORUS_RELIABLE, options.capacity = 2, options.stamped = 1;
  CHECK(horus_layout_bytes(layout) == BYTES);
  subscriber = horus_subscriber_open(topic, layout, &options);
  CHECK(subscriber != NULL && horus_subscriber_is_published(subscriber) == HORUS_EMPTY);
  publisher = horus_publisher_open(topic, layout, &options);
  CHECK(publisher != NULL && horus_subscriber_wait_until_published(subscriber, -1) == HORUS_OK);
  CHECK(horus_publisher_check(publisher) == HORUS_OK && horus_subscriber_check(subscriber) == HORUS_OK);
  CHECK(horus_publisher_subscribers(publisher) == 1 && horus_publisher_reap(publisher) == 0);
  CHECK(horus_publisher_shape(publisher, &shape) == HORUS_OK && shape.message_bytes == BYTES);
  CHECK(horus_subscriber_shape(subscriber, &shape) == HORUS_OK && shape.message_bytes == BYTES && shape.capacity == 2);

  CHECK(horus_publisher_try_send(publisher, sent, BYTES) == HORUS_OK && horus_publisher_send(publisher, sent, BYTES, -1) == HORUS_OK);
  CHECK(horus_publisher_try_send(publisher, sent, BYTES) == HORUS_FULL && horus_publisher_send(publisher, sent, BYTES, 1) == HORUS_FULL);
  CHECK(horus_wait_any(&subscriber, 1, 0, &ready) == HORUS_OK && ready == 0);
  CHECK(horus_subscriber_try_recv(subscriber, got, BYTES, &about) == HORUS_OK && memcmp(sent, got, BYTES) == 0);
  CHECK(about.bytes == BYTES && about.sequence == 0 && about.sent_ns > 0);
  CHECK(horus_subscriber_recv(subscriber, got, BYTES, &about, -1) == HORUS_OK && about.bytes == BYTES && about.sequence == 1);
  CHECK(horus_subscriber_recv(subscriber, got, BYTES, &about, 1) == HORUS_EMPTY);

  CHECK(horus_publisher_loan(publisher, BYTES, &place) == HORUS_OK && horus_publisher_discard(publisher) == HORUS_OK);
  CHECK(horus_publisher_loan(publisher, BYTES, &place) == HORUS_OK && horus_publisher_loan(publisher, BYTES, &place) == HORUS_MISUSE);
  memcpy(place, sent, BYTES);
  CHECK(horus_publisher_publish(publisher, BYTES) == HORUS_OK && horus_publisher_publish(publisher, BYTES) == HORUS_MISUSE);
  CHECK(horus_subscriber_borrow(subscriber, &found, &about) == HORUS_OK && about.bytes == BYTES && memcmp(sent, found, BYTES) == 0);
  CHECK(horus_subscriber_release(subscriber) == HORUS_OK && horus_subscriber_borrow(subscriber, &found, &about) == HORUS_EMPTY);
  CHECK(horus_subscriber_missed(subscriber) == 0);
  CHECK(horus_publisher_close(publisher) == HORUS_OK && horus_subscriber_close(subscriber) == HORUS_OK);
  CHECK(horus_layout_close(layout) == HORUS_OK);
}

int main(void) {
  all("messages", horus_layout_parse("message example/Three\n numbers [u64; 3]"));
  all("bytes", horus_layout_of_bytes(BYTES));
  puts("all of it holds");
  return 0;
}

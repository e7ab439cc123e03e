/* Two threads, each with an end of a topic that was opened by a third, exchange messages; each has its own last error. */
#include "check.h"
#include <pthread.h>

typedef struct {
  uint64_t number, again;
} count;

static long messages;

static void *produce(void *context) {
  horus_publisher *publisher = context;
  long i;
  CHECK(*horus_error() == 0);
  for (i = 0; i < messages; i++) {
    count sent;
    sent.number = (uint64_t)i, sent.again = ~(uint64_t)i;
    CHECK(horus_publisher_send(publisher, &sent, sizeof sent, -1) == HORUS_OK);
  }
  CHECK(horus_publisher_try_send(NULL, NULL, 0) == HORUS_MISUSE);
  SAYS("the publisher is null");
  CHECK(horus_publisher_close(publisher) == HORUS_OK);
  return NULL;
}

static void *consume(void *context) {
  horus_subscriber *subscriber = context;
  long i;
  for (i = 0; i < messages; i++) {
    count got;
    CHECK(horus_subscriber_recv(subscriber, &got, sizeof got, NULL, -1) == HORUS_OK);
    CHECK(got.number == (uint64_t)i && got.again == ~got.number);
  }
  CHECK(*horus_error() == 0);
  CHECK(horus_subscriber_close(subscriber) == HORUS_OK);
  return NULL;
}

int main(int argc, char **arguments) {
  horus_layout *layout = horus_layout_parse("message example/Count\n number u64\n again u64");
  horus_options options = HORUS_OPTIONS;
  horus_subscriber *subscriber;
  horus_publisher *publisher;
  pthread_t producer, consumer;
  CHECK(argc == 2);
  messages = atol(arguments[1]);
  options.delivery_policy = HORUS_RELIABLE, options.capacity = 64;
  subscriber = horus_subscriber_open("counts", layout, &options);
  publisher = horus_publisher_open("counts", layout, &options);
  CHECK(subscriber != NULL && publisher != NULL);
  CHECK(horus_layout_parse("message a/B") == NULL);
  CHECK(pthread_create(&consumer, NULL, consume, subscriber) == 0);
  CHECK(pthread_create(&producer, NULL, produce, publisher) == 0);
  CHECK(pthread_join(producer, NULL) == 0 && pthread_join(consumer, NULL) == 0);
  SAYS("has no fields");
  CHECK(horus_layout_close(layout) == HORUS_OK);
  puts("all of it holds");
  return 0;
}

/* Every function of publishers, subscribers, inputs, outputs and a world's topics, for messages of a struct and for bytes. The test looks whether a
   function is absent here. */
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
}

/* A node that hands on what comes, and what it has found so far. */
typedef struct {
  horus_layout *layout;
  horus_input *input;
  horus_output *output;
  long newest, fresh, each;
} relay;

static void hand_on(void *context, const horus_cycle *cycle) {
  relay *it = context;
  char got[BYTES];
  horus_received about;
  horus_lost lost;
  uint64_t age_ns;
  CHECK(horus_input_latest(it->input, got, BYTES - 1, &about) == HORUS_MISUSE);
  while (horus_input_next(it->input, got, BYTES, &about) == HORUS_OK) {
    CHECK(about.bytes <= BYTES && about.sent_ns > 0);
    CHECK(horus_output_set(it->output, got, (size_t)about.bytes) == HORUS_OK);
    it->each++;
  }
  it->fresh += horus_input_fresh(it->input, got, BYTES, &about) == HORUS_OK;
  if (horus_input_latest(it->input, got, BYTES, &about) == HORUS_OK) {
    it->newest++;
    CHECK(about.bytes <= BYTES && memcmp(got, "left wheel slips", 10) == 0);
    CHECK(horus_input_age_ns(it->input, cycle->release_ns, &age_ns) == HORUS_OK);
  }
  CHECK(horus_output_set(it->output, got, BYTES + 1) == HORUS_MISUSE);
  CHECK(horus_output_lost(it->output, &lost) == HORUS_OK && lost.full + lost.beyond + lost.discarded + lost.outside == 0);
  CHECK(horus_input_missed(it->input) == 0);
}

static int handing_on(horus_app *app, void *context) {
  relay *it = context;
  it->input = horus_app_input(app, "from", it->layout, NULL);
  it->output = horus_app_output(app, "to", it->layout, NULL);
  return horus_node_period_ns(horus_app_node(app, "relay", hand_on, it), 1000000);
}

/* The ports of a node, and what a test does with its topics. */
static void nodes(horus_layout *layout) {
  const char sent[BYTES] = "left wheel slips";
  char got[BYTES] = {0};
  relay it = {NULL, NULL, NULL, 0, 0, 0};
  horus_received about;
  horus_world *world;
  it.layout = layout;
  world = horus_world_new(handing_on, &it);
  CHECK(world != NULL && horus_world_last(world, "to", layout, got, BYTES, &about) == HORUS_EMPTY);
  CHECK(horus_world_publish(world, "from", layout, sent, BYTES) == HORUS_OK && horus_world_publish(world, "from", layout, sent, BYTES) == HORUS_OK);
  CHECK(horus_world_publish(world, "from", layout, sent, BYTES + 1) == HORUS_MISUSE);
  CHECK(horus_world_run_for(world, 3000000) == HORUS_OK);
  CHECK(horus_world_last(world, "to", layout, got, BYTES, &about) == HORUS_OK && memcmp(sent, got, BYTES) == 0);
  CHECK(about.bytes == BYTES && about.sequence == 1 && about.sent_ns > 0 && about.publisher == 0);
  CHECK(it.each == 2 && it.newest >= 2 && it.fresh <= 1);
  CHECK(horus_world_close(world) == HORUS_OK);
}

/* What only bytes have: a length of their own. */
static void lengths(horus_layout *layout) {
  char got[BYTES];
  relay it = {NULL, NULL, NULL, 0, 0, 0};
  horus_received about;
  horus_layout *shorter = horus_layout_of_bytes(BYTES / 2);
  horus_world *world;
  it.layout = layout;
  world = horus_world_new(handing_on, &it);
  CHECK(horus_world_publish(world, "empty", layout, NULL, 0) == HORUS_OK);
  CHECK(horus_world_last(world, "empty", layout, got, BYTES, &about) == HORUS_OK && about.bytes == 0);
  CHECK(horus_world_publish(world, "from", layout, "left wheel", 10) == HORUS_OK && horus_world_run_for(world, 3000000) == HORUS_OK);
  CHECK(horus_world_last(world, "to", layout, got, BYTES, &about) == HORUS_OK && about.bytes == 10 && memcmp(got, "left wheel", 10) == 0);
  CHECK(horus_world_last(world, "to", layout, got, BYTES, NULL) == HORUS_MISUSE);
  SAYS("a message of bytes has a length of its own");
  CHECK(horus_world_last(world, "to", layout, got, BYTES - 1, &about) == HORUS_MISUSE);
  SAYS("there is room for 23 bytes, and a message of this topic may have 24");
  CHECK(horus_world_last(world, "to", shorter, got, BYTES, &about) == HORUS_FAILED);
  SAYS("another type of message, kind of payload or maximum before");
  CHECK(horus_world_publish(world, "from", layout, got, BYTES + 1) == HORUS_MISUSE);
  SAYS("a message of 25 bytes is too long for this topic: it was made for at most 24");
  CHECK(horus_world_close(world) == HORUS_OK && horus_layout_close(shorter) == HORUS_OK);
}

int main(void) {
  horus_layout *messages = horus_layout_parse("message example/Three\n numbers [u64; 3]"), *bytes = horus_layout_of_bytes(BYTES);
  all("messages", messages), all("bytes", bytes);
  nodes(messages), nodes(bytes);
  lengths(bytes);
  CHECK(horus_layout_close(messages) == HORUS_OK && horus_layout_close(bytes) == HORUS_OK);
  puts("all of it holds");
  return 0;
}

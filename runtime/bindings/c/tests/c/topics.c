/* Sends a million messages and receives them, in place too, and does everything wrong that can be done wrong with pointers. */
#include "check.h"

typedef struct {
  double left, right;
} wheel_speed;

static const char *WHEELS = "message example/WheelSpeed\n left f64\n right f64\n";

static void refused(horus_status status, const char *words) {
  CHECK(status == HORUS_MISUSE);
  CHECK(strstr(horus_error(), words) != NULL);
}

static void exchange(horus_publisher *publisher, horus_subscriber *subscriber, long messages) {
  for (long i = 0; i < messages; i++) {
    wheel_speed sent = {(double)i, -(double)i}, received;
    horus_received about;
    CHECK(horus_publisher_try_send(publisher, &sent, sizeof sent) == HORUS_OK);
    CHECK(horus_subscriber_try_recv(subscriber, &received, sizeof received, &about) == HORUS_OK);
    CHECK(memcmp(&sent, &received, sizeof sent) == 0 && about.sequence == (uint64_t)i);
  }
}

static void in_place(horus_publisher *publisher, horus_subscriber *subscriber) {
  void *place;
  const void *found;
  CHECK(horus_publisher_loan(publisher, sizeof(wheel_speed), &place) == HORUS_OK);
  *(wheel_speed *)place = (wheel_speed){0.5, 0.25};
  refused(horus_publisher_try_send(publisher, place, sizeof(wheel_speed)), "is lent");
  refused(horus_publisher_publish(publisher, 8), "the place has 16 bytes, and not 8");
  refused(horus_publisher_loan(publisher, sizeof(wheel_speed), &place), "is lent");
  CHECK(horus_publisher_publish(publisher, sizeof(wheel_speed)) == HORUS_OK);
  refused(horus_publisher_publish(publisher, sizeof(wheel_speed)), "no place");
  CHECK(horus_subscriber_borrow(subscriber, &found, NULL) == HORUS_OK);
  CHECK(((const wheel_speed *)found)->right == 0.25);
  refused(horus_subscriber_borrow(subscriber, &found, NULL), "is lent");
  CHECK(horus_subscriber_release(subscriber) == HORUS_OK);
  CHECK(horus_subscriber_borrow(subscriber, &found, NULL) == HORUS_EMPTY);
  CHECK(horus_publisher_loan(publisher, sizeof(wheel_speed), &place) == HORUS_OK);
  CHECK(horus_publisher_discard(publisher) == HORUS_OK);
}

/* Null, handles of another kind, and wrong sizes, as often as asked. */
static void misuse(horus_layout *layout, horus_publisher *publisher, horus_subscriber *subscriber, long times) {
  char bytes[64] = {0};
  void *place;
  for (long i = 0; i < times; i++) {
    switch (i % 9) {
      case 0: refused(horus_publisher_try_send(NULL, bytes, 16), "publisher is null"); break;
      case 1: refused(horus_publisher_try_send(publisher, NULL, 16), "message is null"); break;
      case 2: refused(horus_publisher_try_send(publisher, bytes, 17), "has 17 bytes, and one of this topic has 16"); break;
      case 3: refused(horus_publisher_try_send((horus_publisher *)subscriber, bytes, 16), "no publisher"); break;
      case 4: refused(horus_subscriber_try_recv((horus_subscriber *)layout, bytes, 16, NULL), "no subscriber"); break;
      case 5: refused(horus_subscriber_try_recv(subscriber, NULL, 16, NULL), "place for the message is null"); break;
      case 6: refused(horus_publisher_loan(NULL, 16, &place), "publisher is null"); break;
      case 7: CHECK(horus_publisher_open(NULL, layout, NULL) == NULL); break;
      default: CHECK(horus_layout_parse("message a/B\n flag bool") == NULL); break;
    }
  }
}

int main(int count, char **arguments) {
  CHECK(count == 2 && horus_abi_version() == HORUS_ABI_VERSION);
  horus_layout *layout = horus_layout_parse(WHEELS);
  CHECK(layout != NULL && horus_layout_bytes(layout) == sizeof(wheel_speed));
  horus_options options = HORUS_OPTIONS;
  options.delivery_policy = HORUS_RELIABLE;
  options.capacity = 4;
  horus_subscriber *subscriber = horus_subscriber_open("wheels", layout, &options);
  CHECK(subscriber != NULL);
  horus_publisher *publisher = horus_publisher_open("wheels", layout, &options);
  CHECK(publisher != NULL);

  exchange(publisher, subscriber, atol(arguments[1]));
  in_place(publisher, subscriber);
  misuse(layout, publisher, subscriber, atol(arguments[1]));

  horus_layout *other = horus_layout_parse("message example/WheelSpeed\n left f64\n rigth f64\n");
  CHECK(horus_subscriber_open("wheels", other, NULL) == NULL);
  CHECK(strstr(horus_error(), "rigth") != NULL);

  wheel_speed last = {1.5, 2.5};
  CHECK(horus_publisher_try_send(publisher, &last, sizeof last) == HORUS_OK);
  for (int i = 0; i < 3; i++) CHECK(horus_publisher_try_send(publisher, &last, sizeof last) == HORUS_OK);
  CHECK(horus_publisher_send(publisher, &last, sizeof last, 1000000) == HORUS_FULL);
  CHECK(horus_subscriber_recv(subscriber, &last, sizeof last, NULL, 1000000000) == HORUS_OK);

  CHECK(horus_layout_close(other) == HORUS_OK && horus_layout_close(layout) == HORUS_OK);
  CHECK(horus_subscriber_close(subscriber) == HORUS_OK && horus_publisher_close(publisher) == HORUS_OK);
  CHECK(horus_publisher_close(NULL) == HORUS_OK);
  puts("all of it holds");
  return 0;
}

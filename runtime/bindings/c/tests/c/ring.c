/* C's place in the ring of five languages: see scripts/checks/languages/ring.py. */
#include <horus/horus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint64_t number;
  double value;
  int16_t small[3];
  uint8_t hops;
  uint8_t spare[1];
} token;

#define LAYOUT(SECOND) "message example/Token\n number u64\n " SECOND " f64\n small [i16; 3]\n hops u8\n spare [u8; 1]"

static horus_options options(void) {
  horus_options wanted = HORUS_OPTIONS;
  wanted.delivery_policy = HORUS_RELIABLE;
  wanted.capacity = 64;
  return wanted;
}

static int failed(const char *what) {
  fprintf(stderr, "ring: %s: %s\n", what, horus_error());
  return 1;
}

static void ready(void) {
  puts("ready");
  fflush(stdout);
}

static const char *wrong_field(const token *got, uint64_t number) {
  const int16_t small = (int16_t)(number % 1000);
  if (got->number != number) return "number";
  if (got->value != (double)number * 0.5) return "value";
  if (got->small[0] != small || got->small[1] != -small || got->small[2] != 7) return "small";
  if (got->spare[0] != 0x5a) return "spare";
  return NULL;
}

static int pass(const char *from, const char *to, uint64_t count) {
  horus_layout *layout = horus_layout_parse(LAYOUT("value"));
  const horus_options wanted = options();
  horus_subscriber *incoming = horus_subscriber_open(from, layout, &wanted);
  horus_publisher *outgoing = horus_publisher_open(to, layout, &wanted);
  if (!incoming || !outgoing) return failed("open");
  ready();
  for (uint64_t number = 0; number < count; number++) {
    token message;
    if (horus_subscriber_recv(incoming, &message, sizeof message, NULL, -1) != HORUS_OK) return failed("receive");
    const char *field = wrong_field(&message, number);
    if (field) {
      fprintf(stderr, "ring: message %llu: its field %s is wrong\n", (unsigned long long)number, field);
      return 1;
    }
    message.hops++;
    if (horus_publisher_send(outgoing, &message, sizeof message, -1) != HORUS_OK) return failed("send");
  }
  horus_subscriber_close(incoming);
  horus_publisher_close(outgoing);
  horus_layout_close(layout);
  return 0;
}

static int hold(const char *topic) {
  horus_layout *layout = horus_layout_parse(LAYOUT("value"));
  const horus_options wanted = options();
  horus_publisher *publisher = horus_publisher_open(topic, layout, &wanted);
  if (!publisher) return failed("open");
  ready();
  while (getchar() != EOF) continue;
  horus_publisher_close(publisher);
  horus_layout_close(layout);
  return 0;
}

static int changed(const char *topic) {
  horus_layout *layout = horus_layout_parse(LAYOUT("worth"));
  const horus_options wanted = options();
  horus_subscriber *subscriber = horus_subscriber_open(topic, layout, &wanted);
  if (!subscriber) puts(horus_error());
  const int status = subscriber ? 0 : 3;
  horus_subscriber_close(subscriber);
  horus_layout_close(layout);
  return status;
}

int main(int count, char **arguments) {
  if (count == 5 && !strcmp(arguments[1], "pass")) return pass(arguments[2], arguments[3], strtoull(arguments[4], NULL, 10));
  if (count == 3 && !strcmp(arguments[1], "hold")) return hold(arguments[2]);
  if (count == 3 && !strcmp(arguments[1], "changed")) return changed(arguments[2]);
  fprintf(stderr, "ring: unknown arguments\n");
  return 1;
}

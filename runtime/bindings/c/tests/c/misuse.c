/* As many calls as asked, chosen at random by the number given, each with handles that are null, of any kind or closed. Every one of them
   ends with a status, and none with a signal or a panic; null and what was closed is misuse. What was closed stands in `graves`, where
   nothing else is put: see `bury`. */
#include "check.h"

static uint64_t state;

static uint64_t any(uint64_t below) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (state >> 11) % below;
}

enum { KINDS = 10, GRAVES = 64 };
static void *living[KINDS];
static uint64_t graves[GRAVES][2];

/* What a closed handle looks like as long as nothing else stands in its memory, which no program can count on. */
static void *bury(void) { return graves[any(GRAVES)]; }

static void *handle(void) {
  switch (any(8)) {
    case 0: return NULL;
    case 1: return bury();
    default: return living[any(KINDS)];
  }
}

/* The handle that the next call is about. */
static void *about_it;

static void *it(void) { return about_it = handle(); }

static int is_nobody(void *handle) { return handle == NULL || (handle >= (void *)graves && handle < (void *)(graves + GRAVES)); }

static void judge(horus_status status) {
  CHECK(status != HORUS_PANICKED);
  CHECK(status == HORUS_MISUSE || !is_nobody(about_it));
}

static horus_status close_as(uint64_t kind, void *handle) {
  switch (kind) {
    case 0: return horus_layout_close(handle);
    case 1: return horus_publisher_close(handle);
    case 2: return horus_subscriber_close(handle);
    case 3: return horus_publisher_close(handle);
    case 4: return horus_subscriber_close(handle);
    case 8: return horus_world_close(handle);
    case 9: return horus_app_close(handle);
    default: return HORUS_MISUSE; /* what an app closes with itself */
  }
}

static void close_as_what_it_is_not(void) {
  uint64_t kind = any(KINDS), another = any(KINDS);
  /* Places 3 and 4 are a publisher and a subscriber as 1 and 2 are, of bytes. */
  if (kind == another || (kind - 1 < 4 && another - 1 < 4 && kind % 2 == another % 2)) return;
  CHECK(close_as(kind, any(4) ? living[another] : bury()) == HORUS_MISUSE);
}

static const char *text(void) {
  static const char *const texts[] = {"wheels", "log", "", "/", "a b", "..", "\xff\xfe", "fifo:80", "isolated", "message a/B\n x f64",
                                      "message a/B\n x [u8; 0]", "message a/B\n x u8\n y u64", "absent", "robot"};
  uint64_t which = any(sizeof texts / sizeof *texts + 1);
  return which == sizeof texts / sizeof *texts ? NULL : texts[which];
}

static void nothing(void *context, const horus_cycle *cycle) { (void)context, (void)cycle; }

static void call(void) {
  char bytes[512] = {0};
  void *place = NULL;
  horus_subscriber *both[4];
  const void *found = NULL;
  size_t length = 0;
  horus_received about;
  horus_tally tally;
  horus_shape shape;
  uint64_t age;
  void *into = any(3) ? bytes : NULL;
  size_t size = any(2) ? 16 : any(40), room = any(2) ? size : sizeof bytes;
  int i;
  for (i = 0; i < 4; i++) both[i] = handle();
  switch (any(51)) {
    case 0: horus_layout_close(horus_layout_parse(text())); break;
    case 1: horus_layout_hash(handle()); break;
    case 2: horus_layout_bytes(handle()); break;
    case 3: judge(horus_publisher_try_send(it(), into, any(2) ? size : size * 10)); break;
    case 4: judge(horus_publisher_send(it(), into, size, 0)); break;
    case 5: judge(horus_publisher_loan(it(), any(2) ? size : size * 10, any(2) ? &place : NULL)); break;
    case 6: judge(horus_publisher_publish(it(), size)); break;
    case 7: judge(horus_publisher_discard(it())); break;
    case 8: horus_publisher_subscribers(handle()); break;
    case 9: judge(horus_publisher_check(it())); break;
    case 10: judge(horus_subscriber_try_recv(it(), into, room, any(2) ? &about : NULL)); break;
    case 11: judge(horus_subscriber_recv(it(), into, room, any(2) ? &about : NULL, 0)); break;
    case 12: judge(horus_subscriber_borrow(it(), any(2) ? &found : NULL, any(2) ? &about : NULL)); break;
    case 13: judge(horus_subscriber_release(it())); break;
    case 14: horus_subscriber_missed(handle()); break;
    case 15: horus_subscriber_is_published(handle()); break;
    case 16: CHECK(horus_wait_any(any(4) ? both : NULL, any(5), 0, any(4) ? &length : NULL) != HORUS_PANICKED); break;
    case 17: judge(horus_input_latest(it(), into, size, &about)); break;
    case 18: judge(horus_input_fresh(it(), into, size, NULL)); break;
    case 19: judge(horus_input_next(it(), into, size, NULL)); break;
    case 20: judge(horus_output_set(it(), into, size)); break;
    case 21: horus_input_missed(handle()); break;
    case 22: judge(horus_node_period_ns(it(), any(2000000))); break;
    case 23: judge(horus_node_cpu(it(), text())); break;
    case 24: judge(horus_node_scheduling_policy(it(), text())); break;
    case 25: judge(horus_node_on_miss(it(), (horus_reaction)any(7), (uint32_t)any(4), (uint32_t)any(4))); break;
    case 26: judge(horus_node_safe_state(it(), any(2) ? nothing : NULL)); break;
    case 27: judge(horus_node_on(it(), text())); break;
    case 28: judge(horus_world_publish(it(), text(), handle(), into, size)); break;
    case 29: judge(horus_world_last(it(), text(), handle(), into, room, any(4) ? &about : NULL)); break;
    case 30: judge(horus_world_delay(it(), text(), any(1000000), any(3))); break;
    case 31: judge(horus_world_tally(it(), text(), any(2) ? &tally : NULL)); break;
    case 32: judge(horus_world_run_for(it(), any(2000000))); break;
    case 33: CHECK(horus_cycle_fail(NULL, text()) == HORUS_MISUSE); break;
    case 34: judge(horus_app_chain(it(), NULL, any(4), 1)); break;
    case 35: horus_world_journal(handle(), any(4)); break;
    case 36: horus_app_input(handle(), text(), handle(), NULL); break;
    case 37: horus_app_output(handle(), text(), handle(), NULL); break;
    case 38: horus_app_node(handle(), text(), any(2) ? nothing : NULL, NULL); break;
    case 39: judge(horus_app_refuse(it(), text())); break;
    case 40: judge(horus_publisher_shape(it(), any(2) ? &shape : NULL)); break;
    case 41: judge(horus_subscriber_shape(it(), any(2) ? &shape : NULL)); break;
    case 42: judge(horus_input_age_ns(it(), any(1000), any(2) ? &age : NULL)); break;
    case 43: judge(horus_subscriber_wait_until_published(it(), 0)); break;
    case 44: judge(horus_app_stack(it(), any(1 << 20))); break;
    case 45: judge(horus_app_background(it(), NULL, NULL)); break;
    /* They were not kept, so there is nothing to let go. */
    case 46: if (it() != NULL) CHECK(horus_input_let_go(about_it) == HORUS_MISUSE); break;
    case 47: if (it() != NULL) CHECK(horus_node_let_go(about_it) == HORUS_MISUSE); break;
    case 48: if (horus_output_keep(it()) == HORUS_OK) CHECK(!is_nobody(about_it) && horus_output_let_go(about_it) == HORUS_OK); break;
    case 49: close_as_what_it_is_not(); break;
    default: horus_main(NULL, NULL, NULL); break;
  }
}

static int declare(horus_app *app, void *context) {
  horus_node *node;
  horus_app_input(app, "in", context, NULL);
  horus_app_output(app, "out", context, NULL);
  node = horus_app_node(app, "robot", nothing, NULL);
  return horus_node_period_ns(node, 1000000);
}

int main(int count, char **arguments) {
  horus_layout *layout = horus_layout_parse("message example/WheelSpeed\n left f64\n right f64\n");
  horus_layout *bytes = horus_layout_of_bytes(256);
  horus_app *app = horus_app_new("misuse");
  long left;
  int i;
  CHECK(count == 3 && layout != NULL);
  state = strtoull(arguments[2], NULL, 10) * 2 + 1;
  living[0] = state / 2 % 2 ? layout : bytes;
  living[1] = horus_publisher_open("wheels", layout, NULL);
  living[2] = horus_subscriber_open("wheels", layout, NULL);
  living[3] = horus_publisher_open("log", bytes, NULL);
  living[4] = horus_subscriber_open("log", bytes, NULL);
  living[5] = horus_app_input(app, "in", layout, NULL);
  living[6] = horus_app_output(app, "out", layout, NULL);
  living[7] = horus_app_node(app, "robot", nothing, NULL);
  living[8] = horus_world_new(declare, layout);
  living[9] = app;
  for (i = 0; i < KINDS; i++) CHECK(living[i] != NULL);
  for (left = atol(arguments[1]); left > 0; left--) call();
  CHECK(horus_world_close(living[8]) == HORUS_OK && horus_app_close(app) == HORUS_OK);
  CHECK(horus_subscriber_close(living[4]) == HORUS_OK && horus_publisher_close(living[3]) == HORUS_OK);
  CHECK(horus_subscriber_close(living[2]) == HORUS_OK && horus_publisher_close(living[1]) == HORUS_OK);
  CHECK(horus_layout_close(layout) == HORUS_OK && horus_layout_close(bytes) == HORUS_OK);
  puts("all of it holds");
  return 0;
}

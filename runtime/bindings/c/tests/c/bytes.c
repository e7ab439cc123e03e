/* Topics of bytes, by copy and in place, waiting for several topics at once, the journal, and counts of who is there. */
#include "check.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAXIMUM = 256 };

static void exchange(horus_publisher *publisher, horus_subscriber *subscriber) {
  char into[MAXIMUM];
  const void *found;
  void *place;
  horus_received about;
  CHECK(horus_publisher_subscribers(publisher) == 1);
  CHECK(horus_publisher_reap(publisher) == 0);
  CHECK(horus_publisher_try_send(publisher, "left wheel slips", 16) == HORUS_OK);
  CHECK(horus_publisher_try_send(publisher, NULL, 0) == HORUS_OK);
  CHECK(horus_subscriber_try_recv(subscriber, into, sizeof into, &about) == HORUS_OK);
  CHECK(about.bytes == 16 && memcmp(into, "left wheel slips", 16) == 0 && about.sequence == 0);
  CHECK(horus_subscriber_recv(subscriber, into, sizeof into, &about, 0) == HORUS_OK && about.bytes == 0);
  CHECK(horus_subscriber_recv(subscriber, into, sizeof into, &about, 1000) == HORUS_EMPTY);

  CHECK(horus_publisher_loan(publisher, 100, &place) == HORUS_OK);
  memcpy(place, "in place", 8);
  CHECK(horus_publisher_publish(publisher, 101) == HORUS_MISUSE);
  SAYS("the place has 100 bytes, and not 101");
  CHECK(horus_publisher_try_send(publisher, "x", 1) == HORUS_MISUSE);
  CHECK(horus_publisher_publish(publisher, 8) == HORUS_OK);
  CHECK(horus_subscriber_borrow(subscriber, &found, &about) == HORUS_OK);
  CHECK(about.bytes == 8 && memcmp(found, "in place", 8) == 0);
  CHECK(horus_subscriber_try_recv(subscriber, into, sizeof into, &about) == HORUS_MISUSE);
  CHECK(horus_subscriber_release(subscriber) == HORUS_OK);

  /* 8 and 16 bytes are sent as all others are: the way for structs of these sizes is not for bytes. */
  CHECK(horus_publisher_try_send(publisher, "8 bytes.", 8) == HORUS_OK);
  CHECK(horus_subscriber_try_recv(subscriber, into, 8, &about) == HORUS_MISUSE);
  SAYS("there is room for 8 bytes, and a message of this topic may have 256");
  CHECK(horus_subscriber_try_recv(subscriber, into, sizeof into, NULL) == HORUS_MISUSE);
  SAYS("a message of bytes has a length of its own: give a place for horus_received");
  CHECK(horus_subscriber_borrow(subscriber, &found, NULL) == HORUS_MISUSE);
  SAYS("whose field `bytes` tells it");
  CHECK(horus_subscriber_try_recv(subscriber, into, sizeof into, &about) == HORUS_OK && about.bytes == 8);

  CHECK(horus_publisher_try_send(publisher, into, MAXIMUM + 1) == HORUS_MISUSE);
  SAYS("a message of 257 bytes is too long for this topic: it was made for at most 256");
  CHECK(horus_publisher_loan(publisher, MAXIMUM + 1, &place) == HORUS_MISUSE);
  CHECK(horus_publisher_try_send(publisher, NULL, 1) == HORUS_MISUSE);
  CHECK(horus_subscriber_missed(subscriber) == 0);
}

static void waiting(horus_publisher *log, horus_subscriber *logged) {
  horus_layout *layout = horus_layout_parse("message example/Count\n number u64");
  horus_subscriber *counts = horus_subscriber_open("counts", layout, NULL);
  horus_publisher *count = horus_publisher_open("counts", layout, NULL);
  horus_subscriber *both[3];
  uint64_t number = 7;
  size_t ready = 99;
  horus_received about;
  char into[MAXIMUM];
  both[0] = counts, both[1] = logged, both[2] = counts;
  CHECK(horus_publisher_subscribers(count) == 1 && horus_publisher_reap(count) == 0);
  CHECK(horus_publisher_check(count) == HORUS_OK && horus_subscriber_check(counts) == HORUS_OK);
  CHECK(horus_subscriber_is_published(counts) == HORUS_OK);
  CHECK(horus_wait_any(both, 2, 1000, &ready) == HORUS_EMPTY && ready == 99);
  CHECK(horus_publisher_try_send(log, "x", 1) == HORUS_OK);
  CHECK(horus_wait_any(both, 2, -1, &ready) == HORUS_OK && ready == 1);
  CHECK(horus_publisher_try_send(count, &number, sizeof number) == HORUS_OK);
  CHECK(horus_wait_any(both, 2, 0, &ready) == HORUS_OK && ready == 0);
  CHECK(horus_subscriber_try_recv(logged, into, sizeof into, &about) == HORUS_OK && about.bytes == 1);
  CHECK(horus_wait_any(both, 3, 0, &ready) == HORUS_MISUSE);
  SAYS("there twice");
  both[1] = NULL;
  CHECK(horus_wait_any(both, 2, 0, &ready) == HORUS_MISUSE && horus_wait_any(both, 0, 0, &ready) == HORUS_MISUSE);
  both[1] = (horus_subscriber *)layout;
  CHECK(horus_wait_any(both, 2, 0, &ready) == HORUS_MISUSE);
  SAYS("this is no subscriber");
  CHECK(horus_publisher_close(count) == HORUS_OK && horus_subscriber_is_published(counts) == HORUS_EMPTY);
  CHECK(horus_subscriber_close(counts) == HORUS_OK && horus_layout_close(layout) == HORUS_OK);
}

static void journal(void) {
  horus_field field[1];
  field[0].name = "HORUS_WHEEL", field[0].value = "left";
  CHECK(horus_journal(HORUS_JOURNAL_WARNING, "a wheel slips", field, 1) == HORUS_OK);
  CHECK(horus_journal(99, "a wheel slips", field, 1) == HORUS_MISUSE);
  CHECK(horus_journal(HORUS_JOURNAL_INFO, NULL, NULL, 0) == HORUS_MISUSE);
  field[0].name = "wheel";
  CHECK(horus_journal(HORUS_JOURNAL_INFO, "a wheel slips", field, 1) == HORUS_FAILED);
  SAYS("'wheel' is not a field of ours");
}

/* For ever is not waited on a latest topic, all of whose messages are held: its subscribers may hold them for ever. */
static void held(void) {
  horus_options options = HORUS_OPTIONS;
  horus_publisher *publisher;
  horus_subscriber *subscriber;
  const void *found;
  horus_received about;
  static char large[16384];
  horus_layout *layout = horus_layout_of_bytes(sizeof large);
  options.delivery_policy = HORUS_LATEST, options.capacity = 1;
  publisher = horus_publisher_open("held", layout, &options);
  subscriber = horus_subscriber_open("held", layout, &options);
  CHECK(horus_publisher_send(publisher, large, sizeof large, -1) == HORUS_OK);
  CHECK(horus_subscriber_borrow(subscriber, &found, &about) == HORUS_OK && about.bytes == sizeof large);
  CHECK(horus_publisher_send(publisher, large, sizeof large, -1) == HORUS_FULL);
  CHECK(horus_publisher_send(publisher, large, sizeof large, 1000000) == HORUS_FULL);
  CHECK(horus_subscriber_release(subscriber) == HORUS_OK);
  CHECK(horus_publisher_send(publisher, large, sizeof large, -1) == HORUS_OK);
  CHECK(horus_publisher_close(publisher) == HORUS_OK && horus_subscriber_close(subscriber) == HORUS_OK);
  CHECK(horus_layout_close(layout) == HORUS_OK);
}

/* Bytes have no hash, and a topic of them is no topic of a struct. A node's output takes messages of 64 KiB at most. */
static void layouts(horus_layout *layout) {
  horus_layout *count = horus_layout_parse("message example/Count\n number u64");
  horus_layout *large = horus_layout_of_bytes(1 << 20);
  horus_app *app = horus_app_new("bytes");
  CHECK(horus_layout_hash(layout) == 0 && horus_layout_bytes(layout) == MAXIMUM);
  CHECK(horus_app_input(app, "log", layout, NULL) != NULL && horus_app_input(app, "log", count, NULL) == NULL);
  CHECK(horus_app_output(app, "large", large, NULL) == NULL);
  SAYS("is too large for an output, of topic large");
  CHECK(horus_app_close(app) == HORUS_OK);
  CHECK(horus_subscriber_open("log", count, NULL) == NULL);
  CHECK(horus_layout_close(count) == HORUS_OK && horus_layout_close(large) == HORUS_OK);
}

static int says_fork(horus_status status) { return status == HORUS_FAILED && strstr(horus_error(), "fork") != NULL; }

/* What a child comes to that does this after `fork`. */
static int child_that(int (*what)(void *, void *), void *publisher, void *subscriber) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL); /* a sanitizer has one of its own */
    _exit(what(publisher, subscriber));
  }
  CHECK(waitpid(child, &status, 0) == child);
  return status;
}

static int asks(void *publisher, void *subscriber) {
  if (!says_fork(horus_publisher_check(publisher)) || !says_fork(horus_subscriber_check(subscriber))) return 1;
  if (!says_fork(horus_subscriber_is_published(subscriber))) return 2;
  if (horus_publisher_subscribers(publisher) != 0 || !strstr(horus_error(), "fork")) return 3;
  return horus_publisher_reap(publisher) == 0 ? 0 : 4;
}

static int sends(void *publisher, void *subscriber) {
  uint64_t number = 8;
  (void)subscriber;
  return horus_publisher_try_send(publisher, &number, sizeof number) == HORUS_OK ? 0 : 1;
}

static int receives(void *publisher, void *subscriber) {
  uint64_t number = 8;
  (void)publisher;
  return horus_subscriber_try_recv(subscriber, &number, sizeof number, NULL) == HORUS_OK ? 0 : 1;
}

/* It gives nothing back that is its parent's. */
static int closes(void *publisher, void *subscriber) {
  return horus_publisher_close(publisher) == HORUS_OK && horus_subscriber_close(subscriber) == HORUS_OK ? 0 : 1;
}

static int opens_its_own(void *publisher, void *subscriber) {
  uint64_t number = 8, got = 0;
  horus_layout *layout = horus_layout_parse("message example/Count\n number u64");
  publisher = horus_publisher_open("of a child", layout, NULL);
  if (publisher != NULL) return 1; /* no name of a topic */
  publisher = horus_publisher_open("of.a.child", layout, NULL), subscriber = horus_subscriber_open("of.a.child", layout, NULL);
  if (sends(publisher, subscriber) != 0 || horus_subscriber_try_recv(subscriber, &got, sizeof got, NULL) != HORUS_OK) return 2;
  return got == number && closes(publisher, subscriber) == 0 && horus_layout_close(layout) == HORUS_OK ? 0 : 3;
}

/* In the child, asking is an error and using is its end, and it may open topics of its own; the parent goes on as before. */
static void forked(void) {
  horus_layout *layout = horus_layout_parse("message example/Count\n number u64");
  horus_publisher *count = horus_publisher_open("forked", layout, NULL);
  horus_subscriber *counts = horus_subscriber_open("forked", layout, NULL);
  uint64_t number = 7, got = 0;
  CHECK(horus_publisher_try_send(count, &number, sizeof number) == HORUS_OK);
  CHECK(child_that(asks, count, counts) == 0);
  CHECK(WTERMSIG(child_that(sends, count, counts)) == SIGSEGV);
  CHECK(WTERMSIG(child_that(receives, count, counts)) == SIGSEGV);
  CHECK(child_that(closes, count, counts) == 0);
  CHECK(child_that(opens_its_own, NULL, NULL) == 0);
  CHECK(horus_subscriber_try_recv(counts, &got, sizeof got, NULL) == HORUS_OK && got == number);
  CHECK(horus_publisher_try_send(count, &number, sizeof number) == HORUS_OK && horus_publisher_check(count) == HORUS_OK);
  CHECK(horus_publisher_subscribers(count) == 1 && horus_subscriber_is_published(counts) == HORUS_OK);
  CHECK(horus_publisher_close(count) == HORUS_OK && horus_subscriber_close(counts) == HORUS_OK);
  CHECK(horus_layout_close(layout) == HORUS_OK);
}

int main(void) {
  horus_options options = HORUS_OPTIONS;
  horus_layout *layout = horus_layout_of_bytes(MAXIMUM);
  horus_subscriber *subscriber;
  horus_publisher *publisher;
  options.delivery_policy = HORUS_RELIABLE, options.capacity = 4;
  subscriber = horus_subscriber_open("log", layout, &options);
  publisher = horus_publisher_open("log", layout, &options);
  CHECK(subscriber != NULL && publisher != NULL);
  exchange(publisher, subscriber);
  layouts(layout);
  waiting(publisher, subscriber);
  journal();
  held();
  forked();
  CHECK(horus_publisher_close(publisher) == HORUS_OK && horus_subscriber_close(subscriber) == HORUS_OK);
  CHECK(horus_layout_close(layout) == HORUS_OK);
  puts("all of it holds");
  return 0;
}

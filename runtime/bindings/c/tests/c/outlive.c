/* Threads that use the library go on while `main` returns: what they hold is the process's, which ends well. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static volatile int running;

static void *send(void *publisher) {
  uint64_t number = 0;
  for (__atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);; number++) (void)horus_publisher_send(publisher, &number, sizeof number, -1);
  return NULL;
}

static void *receive(void *subscriber) {
  uint64_t number;
  for (__atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);;) (void)horus_subscriber_recv(subscriber, &number, sizeof number, NULL, -1);
  return NULL;
}

/* An error of its own in a thread is freed with the thread. */
static void *err(void *nothing) {
  for (__atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);;) CHECK(horus_layout_parse("message a/B") == NULL && *horus_error() != 0);
  return nothing;
}

int main(void) {
  horus_layout *layout = horus_layout_parse("message example/Count\n number u64");
  horus_options options = HORUS_OPTIONS;
  pthread_t thread;
  options.delivery_policy = HORUS_RELIABLE, options.capacity = 8;
  CHECK(pthread_create(&thread, NULL, receive, horus_subscriber_open("counts", layout, &options)) == 0);
  CHECK(pthread_create(&thread, NULL, send, horus_publisher_open("counts", layout, &options)) == 0);
  CHECK(pthread_create(&thread, NULL, err, NULL) == 0);
  while (__atomic_load_n(&running, __ATOMIC_SEQ_CST) < 3) usleep(100);
  puts("all of it holds");
  return 0;
}

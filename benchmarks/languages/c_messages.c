/* Sends and receives 16 bytes in one thread, for a count of instructions: research/instructions.sh. It prints how many messages. */
#include <horus/horus.h>
#include <stdio.h>

typedef struct {
  double forward, turn;
} command;

enum { MESSAGES = 10000 };

/* Its name is what callgrind counts in, so it stays a function of its own. */
__attribute__((noinline)) int send_and_receive(horus_publisher *publisher, horus_subscriber *subscriber, long number) {
  const command sent = {(double)number, 0};
  command got = {0, 0};
  return horus_publisher_try_send(publisher, &sent, sizeof sent) == HORUS_OK &&
         horus_subscriber_try_recv(subscriber, &got, sizeof got, NULL) == HORUS_OK && got.forward == sent.forward;
}

int main(void) {
  horus_layout *layout = horus_layout_parse("message example/Command\n forward f64\n turn f64");
  horus_subscriber *subscriber = horus_subscriber_open("c-messages", layout, NULL);
  horus_publisher *publisher = horus_publisher_open("c-messages", layout, NULL);
  long number;
  for (number = 0; number < MESSAGES; number++) {
    if (!send_and_receive(publisher, subscriber, number)) {
      fprintf(stderr, "message %ld: %s\n", number, horus_error());
      return 1;
    }
  }
  printf("%d\n", MESSAGES);
  horus_publisher_close(publisher), horus_subscriber_close(subscriber), horus_layout_close(layout);
  return 0;
}

/* Prints as many messages as asked, as they come. */
#include <horus/horus.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
  struct {
    double left, right;
  } wheels;
  horus_layout *layout = horus_layout_parse("message example/WheelSpeed\n left f64\n right f64\n");
  horus_subscriber *subscriber = horus_subscriber_open("wheels", layout, NULL);
  for (long left = count > 1 ? atol(arguments[1]) : 0; left > 0; left--) {
    if (horus_subscriber_recv(subscriber, &wheels, sizeof wheels, NULL, -1) != HORUS_OK) {
      fprintf(stderr, "%s\n", horus_error());
      return 1;
    }
    printf("%g %g\n", wheels.left, wheels.right);
  }
  horus_subscriber_close(subscriber);
  horus_layout_close(layout);
  return 0;
}

/* Options say how long they are: those of a later release are taken where they ask for nothing more, and others are refused. */
#include "check.h"

typedef struct {
  horus_options known;
  uint64_t later;
} later_options;

int main(void) {
  horus_layout *layout = horus_layout_parse("message example/Count\n number u64");
  horus_options options = HORUS_OPTIONS, zeros;
  later_options later = {HORUS_OPTIONS, 0};
  horus_publisher *publisher = horus_publisher_open("counts", layout, &options);
  CHECK(publisher != NULL && horus_publisher_close(publisher) == HORUS_OK);

  later.known.size = sizeof later;
  publisher = horus_publisher_open("counts", layout, &later.known);
  CHECK(publisher != NULL && horus_publisher_close(publisher) == HORUS_OK);
  later.later = 1;
  CHECK(horus_publisher_open("counts", layout, &later.known) == NULL);
  SAYS("ask for something that this library does not know");

  memset(&zeros, 0, sizeof zeros);
  CHECK(horus_publisher_open("counts", layout, &zeros) == NULL);
  SAYS("begin with horus_options options = HORUS_OPTIONS");
  memset(&zeros, 0xa5, sizeof zeros); /* as memory that was never written */
  CHECK(horus_publisher_open("counts", layout, &zeros) == NULL);
  SAYS("begin with horus_options options = HORUS_OPTIONS");
  CHECK(horus_layout_close(layout) == HORUS_OK);
  puts("all of it holds");
  return 0;
}

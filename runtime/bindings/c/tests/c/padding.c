/* A struct with padding: as a layout it is refused, and beside a layout without the padding it has the wrong size. */
#include "check.h"

typedef struct {
  uint8_t flag; /* seven bytes follow that belong to no field */
  double x;
} padded;

int main(void) {
  horus_layout *layout = horus_layout_parse("message example/Padded\n x f64\n flag u8\n spare [u8; 7]");
  horus_publisher *publisher = horus_publisher_open("padded", layout, NULL);
  padded message = {1, 2};
  struct {
    double x;
    uint8_t flag;
  } shifted = {2, 1};
  struct {
    uint8_t bytes[9];
  } packed = {{0}};
  CHECK(horus_layout_parse("message example/Padded\n flag u8\n x f64") == NULL);
  SAYS("7 bytes before the field `x` belong to no field: order the fields by the size of their numbers");
  CHECK(horus_publisher_try_send(publisher, &packed, sizeof packed) == HORUS_MISUSE);
  SAYS("the message has 9 bytes, and one of this topic has 16: use the struct that its layout describes");
  /* As many bytes as the layout's: which of them are a field's, only the layout knows. */
  CHECK(sizeof message == 16 && sizeof shifted == 16);
  CHECK(horus_publisher_try_send(publisher, &shifted, sizeof shifted) == HORUS_OK);
  CHECK(horus_publisher_close(publisher) == HORUS_OK && horus_layout_close(layout) == HORUS_OK);
  puts("all of it holds");
  return 0;
}

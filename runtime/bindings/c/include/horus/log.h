/* What a step says: horus_log(cycle, HORUS_LOG_WARN, "wheel {} slips by {:.2} m", wheel, slip). */
#ifndef HORUS_LOG_H
#define HORUS_LOG_H

#include <string.h>

#include "horus.h"

/* Values of a line: integers, float, double, bool and texts, by their types. In C++ cycle.log takes them. */
static inline horus_log_value horus_log_of_signed(long long number) {
  horus_log_value value = {HORUS_LOG_SIGNED, 0, (uint64_t)number, NULL};
  return value;
}
static inline horus_log_value horus_log_of_unsigned(unsigned long long number) {
  horus_log_value value = {HORUS_LOG_UNSIGNED, 0, number, NULL};
  return value;
}
static inline horus_log_value horus_log_of_double(double number) {
  horus_log_value value = {HORUS_LOG_DOUBLE, 0, 0, NULL};
  memcpy(&value.bits, &number, sizeof number);
  return value;
}
static inline horus_log_value horus_log_of_float(float number) {
  uint32_t bits;
  horus_log_value value = {HORUS_LOG_FLOAT, 0, 0, NULL};
  memcpy(&bits, &number, sizeof number);
  value.bits = bits;
  return value;
}
static inline horus_log_value horus_log_of_bool(_Bool is_true) {
  horus_log_value value = {HORUS_LOG_BOOL, 0, is_true, NULL};
  return value;
}
static inline horus_log_value horus_log_of_text(const char *text) {
  horus_log_value value = {HORUS_LOG_TEXT, 0, 0, text};
  if (text) value.bits = strlen(text);
  return value;
}

/* The value that an expression is. */
#define HORUS_LOG_VALUE(value)            \
  (__extension__ _Generic((value),        \
      _Bool: horus_log_of_bool,           \
      char: horus_log_of_signed,          \
      signed char: horus_log_of_signed,   \
      short: horus_log_of_signed,         \
      int: horus_log_of_signed,           \
      long: horus_log_of_signed,          \
      long long: horus_log_of_signed,     \
      unsigned char: horus_log_of_unsigned,       \
      unsigned short: horus_log_of_unsigned,      \
      unsigned int: horus_log_of_unsigned,        \
      unsigned long: horus_log_of_unsigned,       \
      unsigned long long: horus_log_of_unsigned,  \
      float: horus_log_of_float,          \
      double: horus_log_of_double,        \
      char *: horus_log_of_text,          \
      const char *: horus_log_of_text)(value))

/* Has a line of up to 8 values written to the journal by a thread beside the loop: horus_log(cycle, level, text, values…). */
#define horus_log(cycle, level, ...) HORUS_LOG_PICK(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0, )(cycle, level, __VA_ARGS__)

#define HORUS_LOG_PICK(text, a, b, c, d, e, f, g, h, count, ...) HORUS_LOG_OF_##count
#define HORUS_LOG_CALL(cycle, level, text, count, ...) horus_cycle_log(cycle, level, text, (const horus_log_value[]){__VA_ARGS__}, count)
#define HORUS_LOG_OF_0(cycle, level, text) horus_cycle_log(cycle, level, text, NULL, 0)
#define HORUS_LOG_OF_1(cycle, level, text, a) HORUS_LOG_CALL(cycle, level, text, 1, HORUS_LOG_VALUE(a))
#define HORUS_LOG_OF_2(cycle, level, text, a, b) HORUS_LOG_CALL(cycle, level, text, 2, HORUS_LOG_VALUE(a), HORUS_LOG_VALUE(b))
#define HORUS_LOG_OF_3(cycle, level, text, a, b, c) \
  HORUS_LOG_CALL(cycle, level, text, 3, HORUS_LOG_VALUE(a), HORUS_LOG_VALUE(b), HORUS_LOG_VALUE(c))
#define HORUS_LOG_OF_4(cycle, level, text, a, b, c, d) \
  HORUS_LOG_CALL(cycle, level, text, 4, HORUS_LOG_VALUE(a), HORUS_LOG_VALUE(b), HORUS_LOG_VALUE(c), HORUS_LOG_VALUE(d))
#define HORUS_LOG_OF_5(cycle, level, text, a, b, c, d, e)                                                                \
  HORUS_LOG_CALL(cycle, level, text, 5, HORUS_LOG_VALUE(a), HORUS_LOG_VALUE(b), HORUS_LOG_VALUE(c), HORUS_LOG_VALUE(d), \
                 HORUS_LOG_VALUE(e))
#define HORUS_LOG_OF_6(cycle, level, text, a, b, c, d, e, f)                                                             \
  HORUS_LOG_CALL(cycle, level, text, 6, HORUS_LOG_VALUE(a), HORUS_LOG_VALUE(b), HORUS_LOG_VALUE(c), HORUS_LOG_VALUE(d), \
                 HORUS_LOG_VALUE(e), HORUS_LOG_VALUE(f))
#define HORUS_LOG_OF_7(cycle, level, text, a, b, c, d, e, f, g)                                                          \
  HORUS_LOG_CALL(cycle, level, text, 7, HORUS_LOG_VALUE(a), HORUS_LOG_VALUE(b), HORUS_LOG_VALUE(c), HORUS_LOG_VALUE(d), \
                 HORUS_LOG_VALUE(e), HORUS_LOG_VALUE(f), HORUS_LOG_VALUE(g))
#define HORUS_LOG_OF_8(cycle, level, text, a, b, c, d, e, f, g, h)                                                       \
  HORUS_LOG_CALL(cycle, level, text, 8, HORUS_LOG_VALUE(a), HORUS_LOG_VALUE(b), HORUS_LOG_VALUE(c), HORUS_LOG_VALUE(d), \
                 HORUS_LOG_VALUE(e), HORUS_LOG_VALUE(f), HORUS_LOG_VALUE(g), HORUS_LOG_VALUE(h))

#endif

// What the test programs check with.
#include <horus/horus.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(condition)                                                                          \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, horus_error());     \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

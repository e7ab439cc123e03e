/* What the test programs check with: a sentence that names the place and ends the program. */
#include <horus/horus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, horus_error());   \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

#define SAYS(words) CHECK(strstr(horus_error(), words) != NULL)

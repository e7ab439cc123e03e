/* Opens the library as plug-ins do, twice, and again after it was closed. Opened once more as another file, it is another library with its
   own error, and both work. Arguments: the library, and a copy. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t version_function(void);
typedef void *parse_function(const char *);
typedef const char *error_function(void);
typedef int close_function(void *);

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* ISO C has no conversion from the pointer that dlsym gives. */
#define FIND(type, name)                       \
  type *name = NULL;                           \
  do {                                         \
    void *found = dlsym(library, "horus_" #name); \
    memcpy(&name, &found, sizeof found);       \
    CHECK(name != NULL);                       \
  } while (0)

static void use(void *library, const char *expected) {
  FIND(version_function, abi_version);
  FIND(parse_function, layout_parse);
  FIND(close_function, layout_close);
  FIND(error_function, error);
  void *layout = layout_parse("message a/B\n x f64");
  CHECK(abi_version() == 1 && layout != NULL && layout_close(layout) == 0);
  CHECK(strstr(error(), expected) != NULL);
  CHECK(layout_parse("message a/B\n x bool") == NULL && strstr(error(), "bool") != NULL);
}

int main(int count, char **arguments) {
  void *first, *second, *copy;
  CHECK(count == 3);
  first = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  CHECK(first != NULL);
  use(first, "");
  second = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  CHECK(first == second);
  use(second, "bool");
  copy = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
  CHECK(copy != NULL && copy != first);
  use(copy, "");
  CHECK(dlclose(second) == 0);
  use(first, "bool");
  CHECK(dlclose(first) == 0 && dlclose(copy) == 0);
  first = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  CHECK(first != NULL);
  use(first, "");
  puts("all of it holds");
  return 0;
}

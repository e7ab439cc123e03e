/* Opens a plug-in that uses the library, twice, and again after it was closed. Argument: the plug-in. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t use_function(uint64_t);

static void *open_and_use(const char *path, uint64_t number) {
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL), *found;
  use_function *use = NULL;
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  found = dlsym(plugin, "use");
  memcpy(&use, &found, sizeof found); /* ISO C has no conversion from the pointer that dlsym gives */
  if (use == NULL || use(number) != number) exit(2);
  return plugin;
}

int main(int count, char **arguments) {
  void *first, *second;
  if (count != 2) return 3;
  first = open_and_use(arguments[1], 1);
  second = open_and_use(arguments[1], 2);
  if (first != second || dlclose(second) != 0) return 4;
  first = open_and_use(arguments[1], 3);
  if (dlclose(first) != 0 || dlclose(first) != 0) return 5;
  if (dlclose(open_and_use(arguments[1], 4)) != 0) return 6;
  puts("all of it holds");
  return 0;
}

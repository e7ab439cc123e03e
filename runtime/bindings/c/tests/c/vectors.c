/* Reads the test vectors of docs/layout-hash.md: each text has the hash and the bytes that stand above it. Argument: the file. */
#include "check.h"

enum { LONGEST = 4096 };

static int check(const char *head, const char *text) {
  unsigned long long hash;
  size_t bytes;
  horus_layout *layout = horus_layout_parse(text);
  CHECK(sscanf(head, "hash %llx bytes %zu ", &hash, &bytes) == 2);
  CHECK(layout != NULL);
  if (horus_layout_hash(layout) != hash || horus_layout_bytes(layout) != bytes) {
    fprintf(stderr, "it has the hash %016llx:\n%s%s", (unsigned long long)horus_layout_hash(layout), head, text);
    exit(1);
  }
  return horus_layout_close(layout) == HORUS_OK;
}

int main(int count, char **arguments) {
  static char text[LONGEST], head[LONGEST], line[LONGEST];
  int vectors = 0;
  FILE *file = count == 2 ? fopen(arguments[1], "r") : NULL;
  CHECK(file != NULL);
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "hash ", 5) == 0) {
      if (*text != 0) vectors += check(head, text);
      strcpy(head, line), *text = 0;
    } else if (*head != 0 && *line != '\n') {
      CHECK(strlen(text) + strlen(line) < sizeof text);
      strcat(text, line);
    }
  }
  CHECK(*text != 0);
  vectors += check(head, text);
  fclose(file);
  printf("%d vectors\n", vectors);
  return 0;
}

/* A step that never returns, or with an argument one that does: what its program says, and how it ends. */
#include "check.h"
#include <unistd.h>

static void hang(void *context, const horus_cycle *cycle) {
  (void)context, (void)cycle;
  fprintf(stderr, "hangs\n");
  for (;;) pause();
}

static void run(void *context, const horus_cycle *cycle) {
  (void)context;
  if (cycle->number == 0) fprintf(stderr, "runs\n");
}

int main(int argc, char **argv) {
  (void)argv;
  horus_app *app = horus_app_new("hang");
  CHECK(horus_node_period_ns(horus_app_node(app, "stuck", argc > 1 ? run : hang, NULL), 1000000) == HORUS_OK);
  return horus_app_run(app);
}

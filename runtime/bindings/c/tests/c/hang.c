/* A step that never returns, or with `not` one that does: what its program says, and how it ends. With `grace`, a second signal ends it. */
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
  const char *how = argc > 1 ? argv[1] : "";
  horus_app *app = horus_app_new("hang");
  CHECK(horus_node_period_ns(horus_app_node(app, "stuck", strcmp(how, "not") == 0 ? run : hang, NULL), 1000000) == HORUS_OK);
  if (strcmp(how, "grace") == 0) CHECK(horus_app_grace_ns(app, 0) == HORUS_OK);
  return horus_app_run(app);
}

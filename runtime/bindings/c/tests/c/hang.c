/* A step that never returns: what its program says, and how it ends. */
#include "check.h"
#include <unistd.h>

static void hang(void *context, const horus_cycle *cycle) {
  (void)context, (void)cycle;
  fprintf(stderr, "hangs\n");
  for (;;) pause();
}

int main(void) {
  horus_app *app = horus_app_new("hang");
  CHECK(horus_node_period_ns(horus_app_node(app, "stuck", hang, NULL), 1000000) == HORUS_OK);
  return horus_app_run(app);
}

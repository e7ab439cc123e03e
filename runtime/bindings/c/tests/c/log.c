/* What a step logs: `world` in virtual time, `run` on the machine, `quiet` with every system call forbidden. */
#include <horus/log.h>

#include "check.h"
#include "quiet.h"

static int is_quiet;

static void talk(void *self, const horus_cycle *cycle) {
  static int steps;
  char part[] = "motor";
  unsigned char wheels = 4;
  int i;
  (void)self;
  if (is_quiet) {
    if (steps++ == 0) return; /* what a thread does once is done */
    allow_no_system_call();
    for (i = 0; i < 1000; i++) {
      if (horus_log(cycle, HORUS_LOG_INFO, "line {} of {}: {:.1} {}", i, part, 0.5, (_Bool)1) != HORUS_OK) _exit(1);
    }
    _exit(MADE_NO_SYSTEM_CALL);
  }
  if (steps++ > 0) return;
  CHECK(horus_log(cycle, HORUS_LOG_INFO, "all is well") == HORUS_OK);
  CHECK(horus_log(cycle, HORUS_LOG_WARN, "{} of {} {:.2} {} {} {} {:x} {}", -3, wheels, 0.126, 0.1f, (_Bool)1, part, 255ull, "left") == HORUS_OK);
  CHECK(horus_log(cycle, HORUS_LOG_DEBUG, "{{}} {}", (const char *)NULL) == HORUS_OK);
  CHECK(horus_log(cycle, HORUS_LOG_ERROR, "{} and {}", 7) == HORUS_MISUSE);
  SAYS("not as many places");
  CHECK(horus_log(cycle, 9, "{}", 7) == HORUS_MISUSE);
  SAYS("no level 9");
  CHECK(horus_log(NULL, HORUS_LOG_INFO, "{}", 7) == HORUS_MISUSE);
  CHECK(horus_cycle_log(cycle, HORUS_LOG_INFO, NULL, NULL, 0) == HORUS_MISUSE);
  CHECK(horus_cycle_log(cycle, HORUS_LOG_INFO, "{}", NULL, 1) == HORUS_MISUSE);
  CHECK(horus_log(cycle, HORUS_LOG_INFO, "the last") == HORUS_OK);
}

static int declare(horus_app *app, void *self) {
  return horus_node_period_ns(horus_app_node(app, "wheels", talk, self), 1000000);
}

static const char *const SAID[] = {
    "node wheels, cycle 0: all is well",
    "node wheels, cycle 0: -3 of 4 0.13 0.1 true motor ff left",
    "node wheels, cycle 0: {} (null)",
    "node wheels, cycle 0: cannot log \"{} and {}\": the text has not as many places {} as there are values",
    "node wheels, cycle 0: the last",
};

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "world") == 0) {
    size_t i;
    horus_world *world = horus_world_new(declare, NULL);
    CHECK(world != NULL);
    CHECK(horus_world_run_for(world, 10000000) == HORUS_OK);
    for (i = 0; i < sizeof SAID / sizeof SAID[0]; i++) {
      const char *entry = horus_world_journal(world, i);
      if (entry == NULL || strcmp(entry, SAID[i]) != 0) fprintf(stderr, "%s\n", entry ? entry : "nothing");
      CHECK(entry != NULL && strcmp(entry, SAID[i]) == 0);
    }
    CHECK(horus_world_journal(world, i) == NULL);
    CHECK(horus_world_close(world) == HORUS_OK);
    puts("all of it holds");
    return 0;
  }
  is_quiet = argc > 1 && strcmp(argv[1], "quiet") == 0;
  {
    horus_app *app = horus_app_new("talker");
    declare(app, NULL);
    horus_app_releases(app, 20);
    return horus_app_run(app);
  }
}

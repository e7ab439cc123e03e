/* Parameters in C: declared, read in steps, set in a world and from another program. HORUS_TEST_PROGRAM makes it the program. */
#include "check.h"
#include <time.h>
#include <unistd.h>

static horus_param *gain, *turn, *on, *frame;
static double seen_gain;
static int64_t seen_turn;
static int seen_on;
static char seen_frame[65];

static void step(void *context, const horus_cycle *cycle) {
  (void)context;
  (void)cycle;
  seen_gain = horus_param_number(gain);
  seen_turn = horus_param_whole(turn);
  seen_on = horus_param_is_true(on);
  CHECK(horus_param_text(frame, seen_frame, sizeof seen_frame) == HORUS_OK);
}

static horus_value number(double is) {
  horus_value value;
  memset(&value, 0, sizeof value);
  value.kind = HORUS_NUMBER;
  value.number = is;
  return value;
}

static horus_value whole(int64_t is) {
  horus_value value;
  memset(&value, 0, sizeof value);
  value.kind = HORUS_WHOLE;
  value.whole = is;
  return value;
}

static horus_value text(const char *is) {
  horus_value value;
  memset(&value, 0, sizeof value);
  value.kind = HORUS_TEXT;
  strncpy(value.text, is, sizeof value.text - 1);
  return value;
}

static horus_value truth(int is) {
  horus_value value;
  memset(&value, 0, sizeof value);
  value.kind = HORUS_BOOL;
  value.is_true = (uint32_t)is;
  return value;
}

static horus_status declare(horus_app *app, void *context) {
  horus_value least = number(0), greatest = number(4), value = number(0.8);
  horus_param_wishes wishes;
  (void)context;
  memset(&wishes, 0, sizeof wishes);
  wishes.unit = "1/s";
  wishes.about = "speed for a metre of distance";
  wishes.least = &least;
  wishes.greatest = &greatest;
  gain = horus_app_param(app, "gain", &value, &wishes);
  value = whole(2);
  turn = horus_app_param(app, "turn", &value, NULL);
  value = truth(1);
  on = horus_app_param(app, "on", &value, NULL);
  memset(&wishes, 0, sizeof wishes);
  wishes.read_only = 1;
  value = text("base");
  frame = horus_app_param(app, "frame", &value, &wishes);
  CHECK(gain && turn && on && frame);
  return horus_node_period_ns(horus_app_node(app, "drive", step, NULL), 1000000);
}

static horus_status declare_wrongly(horus_app *app, void *context) {
  horus_value value = number(0.8), least = text("low");
  horus_param_wishes wishes;
  (void)context;
  memset(&wishes, 0, sizeof wishes);
  wishes.least = &least;
  CHECK(horus_app_param(app, "gain", &value, &wishes) == NULL);
  SAYS("a range has a least and a greatest value");
  wishes.greatest = &least;
  CHECK(horus_app_param(app, "gain", &value, &wishes) == NULL);
  SAYS("the range of parameter gain is not of a finite number");
  CHECK(horus_app_param(app, "gain", NULL, NULL) == NULL);
  SAYS("the value is null");
  value.kind = 9;
  CHECK(horus_app_param(app, "gain", &value, NULL) == NULL);
  SAYS("a value has no kind 9");
  return HORUS_OK;
}

static void in_a_world(void) {
  horus_world *world = horus_world_new(declare, NULL);
  horus_value value;
  char small[2];
  CHECK(world && horus_world_run_for(world, 2000000) == HORUS_OK);
  CHECK(seen_gain == 0.8 && seen_turn == 2 && seen_on == 1 && strcmp(seen_frame, "base") == 0);
  value = number(1.5);
  CHECK(horus_world_set_param(world, "drive", "gain", &value) == HORUS_OK);
  value = whole(-3);
  CHECK(horus_world_set_param(world, "drive", "turn", &value) == HORUS_OK);
  value = truth(0);
  CHECK(horus_world_set_param(world, "drive", "on", &value) == HORUS_OK);
  CHECK(horus_world_run_for(world, 2000000) == HORUS_OK);
  CHECK(seen_gain == 1.5 && seen_turn == -3 && seen_on == 0);
  value = number(9);
  CHECK(horus_world_set_param(world, "drive", "gain", &value) == HORUS_FAILED);
  SAYS("gain may be 0 to 4 1/s (speed for a metre of distance); it stays 1.5");
  CHECK(horus_world_set_param(world, "drive", "gian", &value) == HORUS_FAILED);
  SAYS("did you mean gain?");
  CHECK(horus_param_number(turn) == -3 && horus_param_whole(gain) == 0);
  SAYS("this parameter is no whole number");
  CHECK(horus_param_text(frame, small, sizeof small) == HORUS_MISUSE && horus_param_text(gain, small, sizeof small) == HORUS_MISUSE);
  CHECK(horus_param_number((horus_param *)world) == 0);
  SAYS("this is no parameter");
  CHECK(horus_world_close(world) == HORUS_OK);
  CHECK(horus_param_number(gain) == 1.5 && horus_param_close(gain) == HORUS_OK && horus_param_close(NULL) == HORUS_OK);
  CHECK(horus_param_close(turn) == HORUS_OK && horus_param_close(on) == HORUS_OK && horus_param_close(frame) == HORUS_OK);
  CHECK(horus_world_new(declare_wrongly, NULL) == NULL);
}

static void of_another(const char *name) {
  horus_params *params = NULL;
  horus_parameter about;
  horus_assignment both[2];
  horus_value before;
  const char *names[1] = {"gain"};
  int tries;
  const struct timespec moment = {0, 20000000};
  for (tries = 0; !params && tries < 3000; tries++) {
    params = horus_params_open(name);
    if (!params) nanosleep(&moment, NULL);
  }
  CHECK(params);
  CHECK(horus_params_list(params, 0, &about) == HORUS_OK && strcmp(about.node, "drive") == 0 && strcmp(about.name, "gain") == 0);
  CHECK(about.value.kind == HORUS_NUMBER && about.value.number == 0.8 && about.greatest.number == 4 && strcmp(about.unit, "1/s") == 0);
  CHECK(about.from == HORUS_FROM_PROGRAM && about.user == UINT32_MAX && about.set_at == 0 && about.saved_at == 0);
  CHECK(horus_params_list(params, 3, &about) == HORUS_OK && about.read_only == 1 && strcmp(about.value.text, "base") == 0);
  CHECK(horus_params_list(params, 4, &about) == HORUS_EMPTY);
  CHECK(horus_params_watch(params, 0, &before, &about) == HORUS_EMPTY);
  both[0].name = "gain";
  both[0].value = number(1.5);
  both[1].name = "turn";
  both[1].value = whole(3);
  CHECK(horus_params_set(params, both, 2) == HORUS_OK);
  CHECK(horus_params_watch(params, 60000000000, &before, &about) == HORUS_OK && before.number == 0.8 && about.value.number == 1.5);
  CHECK(about.from == HORUS_FROM_COMMAND && about.user == getuid() && about.set_at > 0);
  CHECK(horus_params_watch(params, 0, NULL, &about) == HORUS_OK && about.value.whole == 3);
  CHECK(horus_params_get(params, "turn", &about) == HORUS_OK && about.value.whole == 3);
  both[1].value = text("fast");
  CHECK(horus_params_set(params, both, 2) == HORUS_FAILED);
  SAYS("turn may be a whole number; it stays 3");
  CHECK(horus_params_set(params, both, 0) == HORUS_MISUSE && horus_params_set(params, NULL, 1) == HORUS_MISUSE);
  CHECK(horus_params_get(params, "gian", &about) == HORUS_FAILED);
  SAYS("did you mean gain?");
  CHECK(horus_params_save(params, names, 1) == HORUS_OK);
  CHECK(horus_params_get(params, "gain", &about) == HORUS_OK && about.saved_at > 0);
  both[0].value = number(3);
  CHECK(horus_params_set(params, both, 1) == HORUS_OK && horus_params_load(params, NULL, 0) == HORUS_OK);
  CHECK(horus_params_get(params, "gain", &about) == HORUS_OK && about.value.number == 1.5 && about.from == HORUS_FROM_SAVED);
  CHECK(horus_params_forget(params, names, 1) == HORUS_OK);
  CHECK(horus_params_get(params, "gain", &about) == HORUS_OK && about.saved_at == 0);
  CHECK(horus_params_close(params) == HORUS_OK && horus_params_open("nowhere") == NULL);
  SAYS("no living program nowhere");
}

int main(int count, char **arguments) {
  if (getenv("HORUS_TEST_PROGRAM")) return horus_main(getenv("HORUS_TEST_PROGRAM"), declare, NULL);
  if (count > 1)
    of_another(arguments[1]);
  else
    in_a_world();
  puts("all of it holds");
  return 0;
}

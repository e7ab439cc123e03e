/* A port belongs to one node. Another one that uses it, in the same thread or in one of its own, or a program outside of a step, is refused. */
#include "check.h"

typedef struct {
  horus_input *input, *input_of_another;
  horus_output *output, *output_of_another;
  long steps;
} node;

static void step(void *context, const horus_cycle *cycle) {
  node *it = context;
  uint64_t number = 7;
  int i;
  horus_lost lost = {9, 9, 9, 9, 9};
  (void)cycle;
  /* The topic holds sixteen messages. */
  for (i = 0; i < 16; i++) CHECK(horus_output_set(it->output, &number, sizeof number) == HORUS_OK);
  CHECK(horus_output_set(it->output, &number, sizeof number) == HORUS_FULL);
  CHECK(horus_output_lost(it->output, &lost) == HORUS_OK && lost.beyond == (uint64_t)it->steps + 1);
  CHECK(lost.full == 0 && lost.discarded == 0 && lost.outside == 0 && lost.invalid == 0);
  CHECK(horus_output_lost(it->output_of_another, &lost) == HORUS_MISUSE && horus_output_lost(it->output, NULL) == HORUS_MISUSE);
  CHECK(horus_input_latest(it->input, &number, sizeof number, NULL) != HORUS_MISUSE);
  CHECK(horus_input_latest(it->input_of_another, &number, sizeof number, NULL) == HORUS_MISUSE);
  SAYS("this input belongs to a node that is in no step of this thread");
  CHECK(horus_input_fresh(it->input_of_another, &number, sizeof number, NULL) == HORUS_MISUSE);
  CHECK(horus_input_next(it->input_of_another, &number, sizeof number, NULL) == HORUS_MISUSE);
  CHECK(horus_output_set(it->output_of_another, &number, sizeof number) == HORUS_MISUSE);
  SAYS("this output belongs to a node that is in no step of this thread");
  it->steps++;
}

int main(int count, char **arguments) {
  horus_layout *layout = horus_layout_parse("message example/Count\n number u64");
  horus_app *app = horus_app_new("ports");
  node nodes[2] = {{0}, {0}};
  int i, has_threads = count > 1 && strcmp(arguments[1], "threads") == 0;
  uint64_t number = 7;
  for (i = 0; i < 2; i++) {
    horus_node *declared;
    nodes[i].input = nodes[1 - i].input_of_another = horus_app_input(app, i ? "b" : "a", layout, NULL);
    nodes[i].output = nodes[1 - i].output_of_another = horus_app_output(app, i ? "a" : "b", layout, NULL);
    declared = horus_app_node(app, i ? "second" : "first", step, &nodes[i]);
    CHECK(horus_node_period_ns(declared, 100000) == HORUS_OK);
    if (has_threads && i) CHECK(horus_node_scheduling_policy(declared, "other") == HORUS_OK);
  }
  for (i = 0; i < 2; i++) CHECK(horus_input_keep(nodes[i].input) == HORUS_OK && horus_output_keep(nodes[i].output) == HORUS_OK);
  CHECK(horus_input_keep(nodes[0].input) == HORUS_OK && horus_input_let_go(nodes[0].input) == HORUS_OK);
  CHECK(horus_output_set(nodes[0].output, &number, sizeof number) == HORUS_MISUSE);
  SAYS("before horus_app_node");
  if (has_threads) {
    CHECK(horus_app_releases(app, 2000) == HORUS_OK && horus_app_run(app) == 0);
  } else {
    CHECK(horus_app_run_in_place(app, 100) == HORUS_OK);
  }
  CHECK(nodes[0].steps > 0 && nodes[1].steps > 0);
  for (i = 0; i < 2; i++) {
    CHECK(horus_output_set(nodes[i].output, &number, sizeof number) == HORUS_MISUSE);
    SAYS("or whose program has ended");
    CHECK(horus_input_latest(nodes[i].input, &number, sizeof number, NULL) == HORUS_MISUSE);
    CHECK(horus_input_let_go(nodes[i].input) == HORUS_OK && horus_output_let_go(nodes[i].output) == HORUS_OK);
  }
  CHECK(horus_input_let_go(NULL) == HORUS_OK && horus_input_keep(NULL) == HORUS_MISUSE);
  CHECK(horus_layout_close(layout) == HORUS_OK);
  puts("all of it holds");
  return 0;
}

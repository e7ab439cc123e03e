/* A program of two nodes, in virtual time with its misses, and on the machine's clock: `world`, `run` or `main`. */
#include "check.h"

typedef struct {
  double left, right;
} wheel_speed;

static const char *WHEELS = "message example/WheelSpeed\n left f64\n right f64\n";

typedef struct {
  horus_layout *layout;
  horus_input *wanted;
  horus_output *wheels;
  horus_input *seen;
  long steps, events;
  double last;
  uint64_t fails_in;
  int runs_alone;
  horus_input *wanted_in_order;
  int was_told_before;
} robot;

static void control(void *self, const horus_cycle *cycle) {
  robot *it = self;
  wheel_speed wanted = {0, 0};
  if (it->steps++ == 0 && it->was_told_before) {
    /* What was there before the first release is there at the first look, once. */
    CHECK(horus_input_next(it->wanted_in_order, &wanted, sizeof wanted, NULL) == HORUS_OK && wanted.left == 0.5);
    CHECK(horus_input_next(it->wanted_in_order, &wanted, sizeof wanted, NULL) == HORUS_EMPTY);
  }
  if (horus_input_latest(it->wanted, &wanted, sizeof wanted, NULL) == HORUS_OK) {
    wanted.left *= 2;
    CHECK(horus_output_set(it->wheels, &wanted, sizeof wanted) == HORUS_OK);
  }
  CHECK(cycle->deadline_ns >= cycle->release_ns);
  if (it->fails_in > 0 && --it->fails_in == 0) horus_cycle_fail(cycle, "the wheel came off");
}

static void stop(void *self, const horus_cycle *cycle) {
  const wheel_speed still = {0, 0};
  (void)cycle;
  CHECK(horus_output_set(((robot *)self)->wheels, &still, sizeof still) == HORUS_OK);
}

static void look(void *self, const horus_cycle *cycle) {
  robot *it = self;
  wheel_speed wheels;
  horus_received about;
  (void)cycle;
  while (horus_input_next(it->seen, &wheels, sizeof wheels, &about) == HORUS_OK) {
    uint64_t age = 0;
    CHECK(horus_input_age_ns(it->seen, about.sent_ns + 5, &age) == HORUS_OK && age == 5);
    CHECK(horus_input_age_ns(it->seen, about.sent_ns, NULL) == HORUS_MISUSE);
    it->events++;
    it->last = wheels.left;
  }
}

static void count_looks(void *looks, uint64_t now_ns) {
  CHECK(now_ns > 0);
  __atomic_add_fetch((long *)looks, 1, __ATOMIC_SEQ_CST);
}

static int declare(horus_app *app, void *self) {
  robot *it = self;
  horus_node *node;
  it->wanted = horus_app_input(app, "wanted", it->layout, NULL);
  it->wanted_in_order = horus_app_input(app, "wanted", it->layout, NULL);
  it->wheels = horus_app_output(app, "wheels", it->layout, NULL);
  node = horus_app_node(app, "control", control, it);
  horus_node_safe_state(node, stop);
  horus_node_period_ns(node, 1000000);
  horus_node_budget_ns(node, 100000);
  horus_node_deadline_ns(node, 800000);
  CHECK(horus_node_stale_after_of_ns(node, "wanted", 3000000) == HORUS_OK);
  horus_node_on_miss(node, HORUS_SAFE_STATE, 3, 100);
  horus_node_monitor_limit_ns(node, 50000000);
  if (it->runs_alone) return HORUS_OK;
  it->seen = horus_app_input(app, "wheels", it->layout, NULL);
  node = horus_app_node(app, "look", look, it);
  horus_node_on(node, "wheels");
  horus_node_min_inter_arrival_ns(node, 500000);
  return horus_node_deadline_ns(node, 400000);
}

static int is_told(horus_world *world, const char *words) {
  const char *entry;
  size_t i;
  for (i = 0; (entry = horus_world_journal(world, i)) != NULL; i++) {
    if (strstr(entry, words) != NULL) return 1;
  }
  return 0;
}

static void in_virtual_time(robot *it) {
  const wheel_speed wanted = {0.5, 0.25};
  wheel_speed wheels;
  horus_tally tally;
  horus_world *world = horus_world_new(declare, it);
  CHECK(world != NULL);
  CHECK(horus_world_last(world, "wheels", it->layout, &wheels, sizeof wheels, NULL) == HORUS_EMPTY);
  it->was_told_before = 1;
  CHECK(horus_world_publish(world, "wanted", it->layout, &wanted, sizeof wanted) == HORUS_OK);
  CHECK(horus_world_run_for(world, 10000000) == HORUS_OK);
  CHECK(horus_world_last(world, "wheels", it->layout, &wheels, sizeof wheels, NULL) == HORUS_OK);
  CHECK(wheels.left == 1.0 && wheels.right == 0.25 && it->last == 1.0 && it->events > 5);
  CHECK(horus_world_now_ns(world) == 10000000);
  CHECK(horus_world_tally(world, "control", &tally) == HORUS_OK && tally.misses == 0 && tally.cycles >= 9);

  CHECK(horus_world_takes(world, "control", 900000, 3) == HORUS_OK);
  CHECK(horus_world_run_for(world, 10000000) == HORUS_OK);
  CHECK(horus_world_tally(world, "control", &tally) == HORUS_OK && tally.misses == 3 && tally.is_safe);
  CHECK(horus_world_last(world, "wheels", it->layout, &wheels, sizeof wheels, NULL) == HORUS_OK && wheels.left == 0);
  CHECK(is_told(world, "node control is in its safe state: 3 misses"));
  CHECK(is_told(world, "input wanted of node control is stale: nothing came for 3ms"));
  CHECK(horus_world_journal(world, 1000) == NULL);

  CHECK(horus_world_delay(world, "absent", 1, 0) == HORUS_MISUSE);
  SAYS("the world has no node absent");
  CHECK(horus_world_publish(world, "wanted", it->layout, &wanted, 3) == HORUS_MISUSE);
  CHECK(horus_world_last(world, "wheels", it->layout, &wheels, (size_t)-1, NULL) == HORUS_MISUSE);
  CHECK(horus_world_lose(world, "wanted", 1) == HORUS_OK);
  CHECK(horus_world_lose(world, "absent", 1) == HORUS_MISUSE);
  SAYS("no input of the world's nodes is of the topic absent");
  CHECK(horus_world_close(world) == HORUS_OK);

  it->fails_in = 5;
  world = horus_world_new(declare, it);
  CHECK(horus_world_run_for(world, 10000000) == HORUS_FAILED);
  SAYS("a node failed: the wheel came off");
  CHECK(horus_world_close(world) == HORUS_OK);
}

/* A step that has its own world's handle is told to use inputs and outputs. */
typedef struct {
  horus_world *world;
  int steps;
} meddler;

static void meddle(void *self, const horus_cycle *cycle) {
  meddler *it = self;
  (void)cycle;
  it->steps++;
  CHECK(horus_world_run_for(it->world, 1000000) == HORUS_MISUSE);
  SAYS("the world runs: its steps use inputs and outputs");
  CHECK(horus_world_now_ns(it->world) == 0 && horus_world_lose(it->world, "a", 1) == HORUS_MISUSE);
  CHECK(horus_world_delay(it->world, "meddles", 1, 0) == HORUS_MISUSE && horus_world_journal(it->world, 0) == NULL);
  CHECK(horus_world_close(it->world) == HORUS_MISUSE);
}

static int meddling(horus_app *app, void *self) {
  return horus_node_period_ns(horus_app_node(app, "meddles", meddle, self), 1000000);
}

/* A node with a publisher of its own, which would be refused beside the robot's. */
static void shoot(void *publisher, const horus_cycle *cycle) {
  const wheel_speed frame = {(double)cycle->number, 0};
  CHECK(horus_publisher_try_send(*(horus_publisher **)publisher, &frame, sizeof frame) == HORUS_OK);
}

typedef struct {
  horus_publisher *publisher;
  horus_layout *layout;
} camera;

static int photographing(horus_app *app, void *self) {
  camera *it = self;
  it->publisher = horus_publisher_open("camera", it->layout, NULL);
  CHECK(it->publisher != NULL);
  return horus_node_period_ns(horus_app_node(app, "camera", shoot, &it->publisher), 1000000);
}

static void with_topics_of_its_own(horus_layout *layout) {
  wheel_speed frame;
  camera it = {NULL, layout};
  horus_publisher *beside = horus_publisher_open("camera", layout, NULL);
  horus_world *world = horus_world_new(photographing, &it);
  CHECK(beside != NULL && horus_world_run_for(world, 5000000) == HORUS_OK);
  CHECK(horus_world_last(world, "camera", layout, &frame, sizeof frame, NULL) == HORUS_OK && frame.left == 4.0);
  CHECK(horus_publisher_close(it.publisher) == HORUS_OK && horus_world_close(world) == HORUS_OK);
  CHECK(horus_publisher_close(beside) == HORUS_OK);
}

/* What does not arrive is told and counted: for a full reliable topic, and where newer messages overwrote older ones. */
typedef struct {
  horus_layout *layout;
  horus_output *full, *overwritten;
  horus_input *reads_full, *reads_overwritten;
  uint64_t refused, sent, received, missed;
} losses;

static void lose(void *self, const horus_cycle *cycle) {
  const wheel_speed message = {1, 2};
  losses *it = self;
  horus_lost lost;
  int is;
  (void)cycle;
  is = horus_output_set(it->full, &message, sizeof message);
  CHECK(is == HORUS_OK || is == HORUS_FULL);
  it->refused += is == HORUS_FULL;
  CHECK(horus_output_lost(it->full, &lost) == HORUS_OK && lost.full == it->refused);
  CHECK(lost.beyond + lost.discarded + lost.outside == 0);
  it->sent += horus_output_set(it->overwritten, &message, sizeof message) == HORUS_OK;
}

static void read_late(void *self, const horus_cycle *cycle) {
  wheel_speed message;
  losses *it = self;
  (void)cycle;
  while (horus_input_next(it->reads_full, &message, sizeof message, NULL) == HORUS_OK) continue;
  while (horus_input_next(it->reads_overwritten, &message, sizeof message, NULL) == HORUS_OK) it->received++;
  it->missed = horus_input_missed(it->reads_overwritten);
  CHECK(horus_input_missed(it->reads_full) == 0 && it->received + it->missed <= it->sent);
}

static int losing(horus_app *app, void *self) {
  losses *it = self;
  horus_options reliable = HORUS_OPTIONS, latest = HORUS_OPTIONS;
  reliable.delivery_policy = HORUS_RELIABLE;
  latest.delivery_policy = HORUS_LATEST;
  reliable.capacity = latest.capacity = 4;
  it->full = horus_app_output(app, "full", it->layout, &reliable);
  it->overwritten = horus_app_output(app, "overwritten", it->layout, &latest);
  horus_node_period_ns(horus_app_node(app, "loses", lose, it), 1000000);
  it->reads_full = horus_app_input(app, "full", it->layout, &reliable);
  it->reads_overwritten = horus_app_input(app, "overwritten", it->layout, &latest);
  return horus_node_period_ns(horus_app_node(app, "late", read_late, it), 20000000);
}

static void losses_are_told_and_counted(horus_layout *layout) {
  losses it = {NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0};
  horus_world *world;
  it.layout = layout;
  world = horus_world_new(losing, &it);
  CHECK(horus_world_run_for(world, 100000000) == HORUS_OK);
  CHECK(it.refused > 50 && it.missed > 50 && it.received > 0 && it.sent >= 99);
  CHECK(is_told(world, "node loses did not publish 1 message on topic full: 1 found the topic full"));
  CHECK(is_told(world, "node late missed ") && is_told(world, "overwritten on topic overwritten before it read"));
  CHECK(horus_world_close(world) == HORUS_OK);
}

static void used_by_its_own_step(void) {
  meddler it = {NULL, 0};
  it.world = horus_world_new(meddling, &it);
  CHECK(horus_world_run_for(it.world, 5000000) == HORUS_OK && it.steps > 3);
  CHECK(horus_world_now_ns(it.world) == 5000000 && horus_world_close(it.world) == HORUS_OK);
}

static int no_nodes(horus_app *app, void *self) {
  (void)self;
  CHECK(horus_app_run(app) == 1);
  SAYS("is lent to the function");
  CHECK(horus_app_close(app) == HORUS_MISUSE);
  return HORUS_OK;
}

static int only_a_number(horus_app *app, void *self) {
  (void)app, (void)self;
  return -7;
}

static int for_a_reason(horus_app *app, void *self) {
  (void)self;
  CHECK(horus_app_refuse(app, "there is no arm") == HORUS_OK && horus_app_refuse(app, NULL) == HORUS_OK);
  return HORUS_OK;
}

static int half(horus_app *app, void *self) {
  CHECK(horus_node_period_ns(horus_app_node(app, "a", control, self), 1000) == HORUS_OK);
  return horus_node_cpu(horus_app_node(app, "b", NULL, self), "2");
}

static int no_budget(horus_app *app, void *self) {
  horus_node *node = horus_app_node(app, "a", control, self);
  horus_node_period_ns(node, 1000000);
  return horus_node_budget_ns(node, 0);
}

static int stale_after_of_none(horus_app *app, void *self) {
  horus_node *node = horus_app_node(app, "a", control, self);
  horus_node_period_ns(node, 1000000);
  return horus_node_stale_after_of_ns(node, "imu", 1000000);
}

/* What is wrong with a graph is said where it is built. */
static void refused(robot *it) {
  horus_app *app;
  CHECK(horus_world_new(no_nodes, it) == NULL);
  SAYS("the program has no nodes");
  CHECK(horus_world_new(only_a_number, it) == NULL);
  SAYS("the function that declares the nodes returned -7");
  CHECK(horus_world_new(for_a_reason, it) == NULL);
  SAYS("there is no arm");
  CHECK(horus_world_new(half, it) == NULL);
  SAYS("the step of the node is null");
  CHECK(horus_world_new(no_budget, it) == NULL);
  SAYS("node a budget 0 s is no time for a step");
  CHECK(horus_world_new(stale_after_of_none, it) == NULL);
  SAYS("node a has a stale_after for topic imu, which is none of its inputs: it has none");
  CHECK(horus_world_new(NULL, it) == NULL);
  SAYS("declares the nodes is null");
  app = horus_app_new("refused");
  CHECK(horus_node_scheduling_policy(horus_app_node(app, "a", control, it), "fifo:200") == HORUS_MISUSE);
  CHECK(horus_app_run(app) == 1);
  app = horus_app_new("refused");
  horus_node_period_ns(horus_app_node(app, "a", control, it), 1000);
  CHECK(horus_app_close(app) == HORUS_OK && horus_app_close(NULL) == HORUS_OK);
}

int main(int count, char **arguments) {
  robot it = {0};
  CHECK(count > 1);
  it.layout = horus_layout_parse(WHEELS);
  if (strcmp(arguments[1], "world") == 0) {
    in_virtual_time(&it);
    refused(&it);
    used_by_its_own_step();
    with_topics_of_its_own(it.layout);
    losses_are_told_and_counted(it.layout);
    puts("all of it holds");
  } else {
    horus_app *app = horus_app_new("robot");
    long looks = 0;
    int status;
    it.runs_alone = 1; /* events are not counted on the machine's clock: two may come at once */
    if (strcmp(arguments[1], "fail") == 0) it.fails_in = 1; /* however busy the machine is, there is a first one */
    declare(app, &it);
    horus_app_releases(app, 20);
    CHECK(horus_app_stack(app, 1 << 20) == HORUS_OK && horus_app_background(app, count_looks, &looks) == HORUS_OK);
    status = horus_app_run(app);
    CHECK(count > 2 || __atomic_load_n(&looks, __ATOMIC_SEQ_CST) > 0); /* the last one at least, unless it only describes itself */
    printf("%ld steps, %s\n", it.steps, status == 0 ? "ended well" : horus_error());
  }
  horus_layout_close(it.layout);
  return 0;
}

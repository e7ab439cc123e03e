/* Actions: in one process, in nodes, and as one end of two: `serve`, `act`. */
#include "check.h"

typedef struct {
  uint64_t to;
} count;
typedef struct {
  uint64_t number;
} reached;

static horus_layout *goals, *feedbacks, *results;
static const int64_t LONG = 60000000000;

/* Looks until there is news of a goal. */
static horus_status news(horus_action_client *client, const horus_goal_id *id, reached *so_far, reached *result, horus_progress *progress) {
  horus_status status;
  while ((status = horus_action_client_look(client, id, so_far, sizeof *so_far, result, sizeof *result, progress)) == HORUS_EMPTY) {
    if (horus_action_client_wait(client, 10000000) == HORUS_EMPTY) (void)horus_action_client_check_server(client);
  }
  return status;
}

static void goals_and_outcomes(void) {
  const count wanted = {3};
  count asked;
  reached so_far = {0}, result = {0};
  horus_goal goal;
  horus_goal_id id, other, ids[16];
  horus_progress progress;
  int i;
  horus_action_client *client = horus_action_client_open("count", goals, feedbacks, results, NULL);
  horus_action_server *server;
  CHECK(client != NULL && horus_action_client_wait_until_served(client, 1000000) == HORUS_EMPTY);
  server = horus_action_server_open("count", goals, feedbacks, results, HORUS_GOAL_REFUSE, NULL);
  CHECK(server != NULL && horus_action_client_wait_until_served(client, LONG) == HORUS_OK);
  CHECK(horus_action_server_open("count", goals, feedbacks, results, HORUS_GOAL_REFUSE, NULL) == NULL);
  CHECK(horus_action_server_open("other", goals, feedbacks, results, 9, NULL) == NULL);
  SAYS("there is no preemption 9");
  CHECK(horus_action_server_goal(server, &asked, sizeof asked, &goal, 0) == HORUS_EMPTY);

  /* One that is reached, while another is rejected. */
  CHECK(horus_action_client_send(client, &wanted, sizeof wanted, &id) == HORUS_OK);
  CHECK(horus_action_server_goal(server, &asked, sizeof asked, &goal, LONG) == HORUS_OK && asked.to == 3);
  CHECK(goal.is_new && goal.status == HORUS_GOAL_EXECUTING && memcmp(&goal.id, &id, sizeof id) == 0 && goal.accepted_ns > 0);
  CHECK(horus_action_client_send(client, &wanted, sizeof wanted, &other) == HORUS_OK);
  CHECK(horus_action_server_goal(server, &asked, sizeof asked, &goal, 0) == HORUS_OK && !goal.is_new);
  CHECK(news(client, &other, &so_far, &result, &progress) == HORUS_GOAL_REJECTED);
  SAYS("runs: wait for its outcome, or cancel it");
  for (so_far.number = 1; so_far.number < 3; so_far.number++) {
    CHECK(horus_action_server_feedback(server, &id, &so_far, sizeof so_far) == HORUS_OK);
  }
  CHECK(horus_action_server_canceled(server, &id, NULL, 0) == HORUS_MISUSE);
  CHECK(horus_action_server_succeed(server, &id, &so_far, sizeof so_far) == HORUS_OK);
  CHECK(horus_action_server_succeed(server, &id, &so_far, sizeof so_far) == HORUS_CALL_OVER);
  CHECK(news(client, &id, &so_far, &result, &progress) == HORUS_OK && progress.news == HORUS_NEWS_ACCEPTED);
  for (i = 1; i < 3; i++) {
    CHECK(news(client, &id, &so_far, &result, &progress) == HORUS_OK && progress.news == HORUS_NEWS_FEEDBACK);
    CHECK(so_far.number == (uint64_t)i);
  }
  CHECK(news(client, &id, &so_far, &result, &progress) == HORUS_OK && progress.news == HORUS_NEWS_ENDED);
  CHECK(progress.status == HORUS_GOAL_SUCCEEDED && progress.has_result && result.number == 3);
  CHECK(horus_action_client_look(client, &id, &so_far, sizeof so_far, &result, sizeof result, &progress) == HORUS_CALL_OVER);

  /* One that is canceled, and one that is given up. */
  CHECK(horus_action_client_send(client, &wanted, sizeof wanted, &id) == HORUS_OK);
  CHECK(horus_action_server_goal(server, &asked, sizeof asked, &goal, LONG) == HORUS_OK);
  CHECK(horus_action_client_cancel(client, &id) == HORUS_OK);
  CHECK(horus_action_server_goal(server, &asked, sizeof asked, &goal, 0) == HORUS_OK && goal.status == HORUS_GOAL_CANCELING);
  CHECK(goal.cause == HORUS_CAUSE_CANCELED);
  so_far.number = 1;
  CHECK(horus_action_server_canceled(server, &id, &so_far, sizeof so_far) == HORUS_OK);
  CHECK(news(client, &id, &so_far, &result, &progress) == HORUS_OK && progress.news == HORUS_NEWS_ACCEPTED);
  CHECK(news(client, &id, &so_far, &result, &progress) == HORUS_OK && progress.status == HORUS_GOAL_CANCELED && result.number == 1);
  CHECK(horus_action_client_send(client, &wanted, sizeof wanted, &id) == HORUS_OK);
  CHECK(horus_action_server_goal(server, &asked, sizeof asked, &goal, LONG) == HORUS_OK);
  CHECK(horus_action_server_abort(server, &id, NULL, 0, "a wall") == HORUS_OK);
  CHECK(news(client, &id, &so_far, &result, &progress) == HORUS_OK && progress.news == HORUS_NEWS_ACCEPTED);
  CHECK(news(client, &id, &so_far, &result, &progress) == HORUS_OK && progress.status == HORUS_GOAL_ABORTED && !progress.has_result);
  CHECK(strcmp(progress.reason, "a wall") == 0);

  /* Too many, and what makes no sense. */
  for (i = 0; i < 16; i++) CHECK(horus_action_client_send(client, &wanted, sizeof wanted, &ids[i]) == HORUS_OK);
  CHECK(horus_action_client_send(client, &wanted, sizeof wanted, &id) == HORUS_CALL_TOO_MANY);
  CHECK(horus_action_client_send(client, &wanted, 3, &id) == HORUS_MISUSE && horus_action_client_send(client, NULL, 8, &id) == HORUS_MISUSE);
  CHECK(horus_action_client_send(client, &wanted, 8, NULL) == HORUS_MISUSE && horus_action_client_cancel(client, NULL) == HORUS_MISUSE);
  CHECK(horus_action_client_look(client, &ids[0], NULL, 8, &result, sizeof result, &progress) == HORUS_MISUSE);
  CHECK(horus_action_server_goal(server, &asked, 3, &goal, 0) == HORUS_MISUSE);
  CHECK(horus_action_server_feedback(server, NULL, &so_far, sizeof so_far) == HORUS_MISUSE);
  CHECK(horus_action_client_open("count", goals, feedbacks, horus_layout_of_bytes(8), NULL) == NULL);
  CHECK(horus_action_client_close((horus_action_client *)server) == HORUS_MISUSE && horus_action_server_close(NULL) == HORUS_OK);

  /* The server stops. */
  CHECK(horus_action_server_goal(server, &asked, sizeof asked, &goal, LONG) == HORUS_OK);
  CHECK(horus_action_server_close(server) == HORUS_OK);
  i = 0;
  while (news(client, &goal.id, &so_far, &result, &progress) == HORUS_OK) CHECK(i++ < 16);
  CHECK(horus_action_client_look(client, &goal.id, &so_far, sizeof so_far, &result, sizeof result, &progress) == HORUS_CALL_OVER);
  CHECK(horus_action_client_close(client) == HORUS_OK);
}

/* A node that counts, and one that has it count. */
typedef struct {
  horus_action_server *server;
  horus_action_client *client;
  horus_goal_id id;
  uint64_t counted, feedbacks, outcome;
  int is_sent;
} nodes;

static void counts(void *context, const horus_cycle *cycle) {
  nodes *it = context;
  count wanted;
  reached here;
  horus_goal goal;
  (void)cycle;
  if (horus_action_server_goal(it->server, &wanted, sizeof wanted, &goal, LONG) != HORUS_OK) return;
  here.number = it->counted = goal.is_new ? 1 : it->counted + 1;
  if (here.number == wanted.to) {
    CHECK(horus_action_server_succeed(it->server, &goal.id, &here, sizeof here) == HORUS_OK);
  } else {
    CHECK(horus_action_server_feedback(it->server, &goal.id, &here, sizeof here) == HORUS_OK);
  }
}

static void wants(void *context, const horus_cycle *cycle) {
  nodes *it = context;
  const count wanted = {5};
  reached so_far, result;
  horus_progress progress;
  (void)cycle;
  if (!it->is_sent) {
    CHECK(horus_action_client_send(it->client, &wanted, sizeof wanted, &it->id) == HORUS_OK);
    it->is_sent = 1;
  } else if (it->outcome == 0) {
    while (horus_action_client_look(it->client, &it->id, &so_far, sizeof so_far, &result, sizeof result, &progress) == HORUS_OK) {
      if (progress.news == HORUS_NEWS_FEEDBACK) it->feedbacks++;
      if (progress.news == HORUS_NEWS_ENDED) {
        it->outcome = result.number;
        break;
      }
    }
  }
}

static int declare(horus_app *app, void *context) {
  nodes *it = context;
  it->server = horus_app_action_server(app, "count", goals, feedbacks, results, HORUS_GOAL_REPLACE, NULL);
  horus_node_period_ns(horus_app_node(app, "counts", counts, it), 10000000);
  it->client = horus_app_action_client(app, "count", goals, feedbacks, results, NULL);
  return horus_node_period_ns(horus_app_node(app, "wants", wants, it), 10000000);
}

static void in_nodes(void) {
  nodes it = {0};
  horus_world *world = horus_world_new(declare, &it);
  CHECK(world != NULL && horus_world_run_for(world, 200000000) == HORUS_OK);
  CHECK(it.outcome == 5 && it.feedbacks == 4);
  CHECK(horus_action_client_cancel(it.client, &it.id) == HORUS_MISUSE && horus_action_server_close(it.server) == HORUS_MISUSE);
  CHECK(horus_world_close(world) == HORUS_OK);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  goals = horus_layout_parse("message test/Count\n to u64\n");
  feedbacks = horus_layout_parse("message test/Reached\n number u64\n");
  results = horus_layout_parse("message test/Counted\n number u64\n");
  CHECK(goals != NULL && feedbacks != NULL && results != NULL);
  if (strcmp(what, "serve") == 0) {
    count wanted;
    horus_goal goal;
    reached here = {1};
    horus_action_server *server = horus_action_server_open("count", goals, feedbacks, results, HORUS_GOAL_REFUSE, NULL);
    CHECK(server != NULL && horus_action_server_goal(server, &wanted, sizeof wanted, &goal, LONG) == HORUS_OK);
    CHECK(horus_action_server_feedback(server, &goal.id, &here, sizeof here) == HORUS_OK);
    here.number = wanted.to;
    CHECK(horus_action_server_succeed(server, &goal.id, &here, sizeof here) == HORUS_OK);
    CHECK(horus_action_server_close(server) == HORUS_OK);
    return 0;
  }
  if (strcmp(what, "act") == 0) {
    count wanted;
    reached so_far, result;
    horus_goal_id id;
    horus_progress progress = {0, 0, 0, 0, {0}};
    horus_action_client *client = horus_action_client_open("count", goals, feedbacks, results, NULL);
    wanted.to = (uint64_t)atoi(argv[2]);
    CHECK(client != NULL && horus_action_client_wait_until_served(client, LONG) == HORUS_OK);
    CHECK(horus_action_client_send(client, &wanted, sizeof wanted, &id) == HORUS_OK);
    while (progress.news != HORUS_NEWS_ENDED) CHECK(news(client, &id, &so_far, &result, &progress) == HORUS_OK);
    CHECK(progress.status == HORUS_GOAL_SUCCEEDED && progress.has_result);
    printf("counted to %d\n", (int)result.number);
    CHECK(horus_action_client_close(client) == HORUS_OK);
    return 0;
  }
  goals_and_outcomes();
  in_nodes();
  puts("all of it holds");
  return 0;
}

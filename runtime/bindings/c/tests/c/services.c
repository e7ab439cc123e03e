/* Services: in one process, in nodes, with every system call forbidden, and as one end of two: `serve`, `call`. */
#include "check.h"
#include "quiet.h"

typedef struct {
  uint32_t slot;
} save_map;
typedef struct {
  uint32_t cells;
} map_saved;

static const char *SAVE = "message test/SaveMap\n slot u32\n";
static const char *SAVED = "message test/MapSaved\n cells u32\n";
static const int64_t LONG = 60000000000;
static horus_layout *save, *saved, *text;

static void answer_one(horus_server *server) {
  save_map request;
  map_saved answer;
  horus_ticket ticket;
  CHECK(horus_server_next(server, &request, sizeof request, NULL, &ticket, LONG) == HORUS_OK);
  answer.cells = 100 * request.slot;
  CHECK(horus_server_answer(server, &ticket, &answer, sizeof answer) == HORUS_OK);
}

static void answers_and_errors(void) {
  save_map request = {3};
  map_saved answer;
  horus_ticket ticket, later;
  horus_call call, calls[16];
  int i;
  horus_client *client = horus_client_open("map.save", save, saved, NULL);
  horus_server *server;
  CHECK(client != NULL);
  CHECK(horus_client_call(client, &request, sizeof request, &answer, sizeof answer, NULL, LONG) == HORUS_CALL_NOT_SERVED);
  SAYS("service map.save has no server");
  CHECK(horus_client_is_served(client) == HORUS_EMPTY && horus_client_wait_until_served(client, 1000000) == HORUS_EMPTY);
  server = horus_server_open("map.save", save, saved, NULL);
  CHECK(server != NULL && horus_client_is_served(client) == HORUS_OK);
  CHECK(horus_server_open("map.save", save, saved, NULL) == NULL);
  SAYS("has a server already");
  CHECK(horus_server_open("map.save", saved, save, NULL) == NULL);

  CHECK(horus_server_next(server, &request, sizeof request, NULL, &ticket, 0) == HORUS_EMPTY);
  CHECK(horus_client_ask(client, &request, sizeof request, &call) == HORUS_OK && horus_client_unanswered(client) == 1);
  CHECK(horus_client_answer(client, call, &answer, sizeof answer, NULL) == HORUS_EMPTY);
  answer_one(server);
  CHECK(horus_client_wait(client, LONG) == HORUS_OK);
  CHECK(horus_client_answer(client, call, &answer, sizeof answer, NULL) == HORUS_OK && answer.cells == 300);
  CHECK(horus_client_answer(client, call, &answer, sizeof answer, NULL) == HORUS_CALL_OVER);

  /* Parts, and an end. */
  CHECK(horus_client_ask(client, &request, sizeof request, &call) == HORUS_OK);
  CHECK(horus_server_next(server, &request, sizeof request, NULL, &ticket, LONG) == HORUS_OK);
  for (i = 1; i <= 3; i++) {
    answer.cells = (uint32_t)i;
    CHECK(horus_server_part(server, &ticket, &answer, sizeof answer) == HORUS_OK);
  }
  CHECK(horus_server_end(server, &ticket) == HORUS_OK);
  for (i = 1; i <= 3; i++) {
    CHECK(horus_client_part(client, call, &answer, sizeof answer, NULL) == HORUS_OK && answer.cells == (uint32_t)i);
  }
  CHECK(horus_client_part(client, call, &answer, sizeof answer, NULL) == HORUS_END);
  CHECK(horus_client_part(client, call, &answer, sizeof answer, NULL) == HORUS_CALL_OVER);

  /* Two answers in the other order; one that is refused; one that is given up. */
  CHECK(horus_client_ask(client, &request, sizeof request, &calls[0]) == HORUS_OK);
  CHECK(horus_server_next(server, &request, sizeof request, NULL, &later, LONG) == HORUS_OK);
  CHECK(horus_client_ask(client, &request, sizeof request, &calls[1]) == HORUS_OK);
  answer_one(server);
  CHECK(horus_client_answer(client, calls[0], &answer, sizeof answer, NULL) == HORUS_EMPTY);
  CHECK(horus_client_answer(client, calls[1], &answer, sizeof answer, NULL) == HORUS_OK);
  answer.cells = 7;
  CHECK(horus_server_answer(server, &later, &answer, sizeof answer) == HORUS_OK);
  CHECK(horus_client_answer(client, calls[0], &answer, sizeof answer, NULL) == HORUS_OK && answer.cells == 7);
  CHECK(horus_client_ask(client, &request, sizeof request, &call) == HORUS_OK);
  CHECK(horus_server_next(server, &request, sizeof request, NULL, &ticket, LONG) == HORUS_OK);
  CHECK(horus_server_refuse(server, &ticket) == HORUS_OK);
  CHECK(horus_client_answer(client, call, &answer, sizeof answer, NULL) == HORUS_CALL_UNANSWERED);
  CHECK(horus_client_ask(client, &request, sizeof request, &call) == HORUS_OK && horus_client_give_up(client, call) == HORUS_OK);
  answer_one(server);
  CHECK(horus_client_answer(client, call, &answer, sizeof answer, NULL) == HORUS_CALL_OVER);
  CHECK(horus_client_is_served(client) == HORUS_OK && horus_client_late(client) == 1);

  /* Too many, too late. */
  for (i = 0; i < 16; i++) CHECK(horus_client_ask(client, &request, sizeof request, &calls[i]) == HORUS_OK);
  CHECK(horus_client_ask(client, &request, sizeof request, &call) == HORUS_CALL_TOO_MANY);
  for (i = 0; i < 16; i++) CHECK(horus_client_give_up(client, calls[i]) == HORUS_OK);
  CHECK(horus_client_ask(client, &request, sizeof request, &call) == HORUS_CALL_FULL);
  for (i = 0; i < 16; i++) answer_one(server);
  CHECK(horus_client_call(client, &request, sizeof request, &answer, sizeof answer, NULL, 1000000) == HORUS_CALL_TIMED_OUT);
  answer_one(server);
  CHECK(horus_server_undelivered(server) == 0);

  /* What makes no sense. */
  CHECK(horus_client_ask(client, &request, 3, &call) == HORUS_MISUSE && horus_client_ask(client, NULL, 4, &call) == HORUS_MISUSE);
  CHECK(horus_client_ask(client, &request, sizeof request, NULL) == HORUS_MISUSE);
  CHECK(horus_client_answer(client, 12345, &answer, sizeof answer, NULL) == HORUS_CALL_OVER);
  CHECK(horus_server_answer(server, NULL, &answer, sizeof answer) == HORUS_MISUSE);
  CHECK(horus_server_answer(server, &ticket, &answer, 3) == HORUS_MISUSE);
  ticket.client = 1000;
  CHECK(horus_server_answer(server, &ticket, &answer, sizeof answer) == HORUS_OK); /* no client has it */
  CHECK(horus_client_close((horus_client *)server) == HORUS_MISUSE && horus_server_close(NULL) == HORUS_OK);

  /* The server stops, and a kept handle says so. */
  CHECK(horus_client_ask(client, &request, sizeof request, &call) == HORUS_OK);
  CHECK(horus_server_keep(server) == HORUS_OK && horus_server_close(server) == HORUS_OK);
  CHECK(horus_server_next(server, &request, sizeof request, NULL, &ticket, 0) == HORUS_MISUSE);
  SAYS("this server was closed");
  CHECK(horus_server_let_go(server) == HORUS_OK);
  CHECK(horus_client_answer(client, call, &answer, sizeof answer, NULL) == HORUS_CALL_STOPPED);
  CHECK(horus_client_check_server(client) == HORUS_EMPTY && horus_client_unanswered(client) == 0);
  CHECK(horus_client_close(client) == HORUS_OK);
}

/* Requests and answers may each be bytes. */
static void of_bytes(void) {
  horus_layout *kinds[2];
  int of_request, of_answer;
  kinds[0] = saved;
  kinds[1] = text;
  for (of_request = 0; of_request < 2; of_request++) {
    for (of_answer = 0; of_answer < 2; of_answer++) {
      char request[16] = "maps", answer[16] = "done";
      char got[16] = "";
      size_t length = 99;
      horus_ticket ticket;
      horus_call call;
      horus_server *server = horus_server_open("any", kinds[of_request], kinds[of_answer], NULL);
      horus_client *client = horus_client_open("any", kinds[of_request], kinds[of_answer], NULL);
      CHECK(server != NULL && client != NULL);
      CHECK(horus_client_ask(client, request, 4, &call) == HORUS_OK);
      CHECK(horus_server_next(server, got, of_request ? sizeof got : 4, &length, &ticket, LONG) == HORUS_OK);
      CHECK(length == 4 && memcmp(got, "maps", 4) == 0);
      CHECK(horus_server_answer(server, &ticket, answer, 4) == HORUS_OK);
      CHECK(horus_client_answer(client, call, got, of_answer ? sizeof got : 4, &length) == HORUS_OK);
      CHECK(length == 4 && memcmp(got, "done", 4) == 0);
      if (of_request) {
        CHECK(horus_client_ask(client, request, 17, &call) == HORUS_MISUSE);
        CHECK(horus_server_next(server, got, 8, &length, &ticket, 0) == HORUS_MISUSE);
        SAYS("a message of this service may have 16");
        CHECK(horus_server_next(server, got, sizeof got, NULL, &ticket, 0) == HORUS_MISUSE);
      }
      if (of_answer) {
        CHECK(horus_client_ask(client, request, 4, &call) == HORUS_OK);
        CHECK(horus_server_next(server, got, of_request ? sizeof got : 4, &length, &ticket, LONG) == HORUS_OK);
        CHECK(horus_server_answer(server, &ticket, answer, 17) == HORUS_MISUSE);
        CHECK(horus_client_answer(client, call, got, sizeof got, &length) == HORUS_CALL_UNANSWERED);
      }
      CHECK(horus_client_close(client) == HORUS_OK && horus_server_close(server) == HORUS_OK);
    }
  }
}

/* A node that serves, and one that asks. */
typedef struct {
  horus_server *server;
  horus_client *client;
  horus_call call;
  int is_asking, answers;
  uint32_t last;
} nodes;

static void serves(void *context, const horus_cycle *cycle) {
  nodes *it = context;
  save_map request;
  horus_ticket ticket;
  (void)cycle;
  while (horus_server_next(it->server, &request, sizeof request, NULL, &ticket, LONG) == HORUS_OK) {
    map_saved answer;
    answer.cells = request.slot + 1;
    CHECK(horus_server_answer(it->server, &ticket, &answer, sizeof answer) == HORUS_OK);
  }
  CHECK(horus_client_unanswered(it->client) == 0 && horus_client_give_up(it->client, 1) == HORUS_MISUSE); /* another node's */
}

static void asks(void *context, const horus_cycle *cycle) {
  nodes *it = context;
  map_saved answer;
  (void)cycle;
  if (!it->is_asking) {
    save_map request;
    request.slot = it->last;
    CHECK(horus_client_ask(it->client, &request, sizeof request, &it->call) == HORUS_OK);
    it->is_asking = 1;
  } else if (horus_client_answer(it->client, it->call, &answer, sizeof answer, NULL) == HORUS_OK) {
    it->last = answer.cells;
    it->answers++;
    it->is_asking = 0;
  }
}

static int declare(horus_app *app, void *context) {
  nodes *it = context;
  horus_node *node;
  it->server = horus_app_server(app, "map.save", save, saved, NULL);
  node = horus_app_node(app, "serves", serves, it);
  horus_node_on(node, "map.save");
  horus_node_min_inter_arrival_ns(node, 1000000);
  horus_node_deadline_ns(node, 1000000);
  it->client = horus_app_client(app, "map.save", save, saved, NULL);
  return horus_node_period_ns(horus_app_node(app, "asks", asks, it), 10000000);
}

static void in_nodes(void) {
  nodes it = {0};
  save_map request = {1};
  horus_world *world = horus_world_new(declare, &it);
  CHECK(world != NULL);
  CHECK(horus_world_run_for(world, 100000000) == HORUS_OK);
  CHECK(it.answers == 5 && it.last == 5);
  CHECK(horus_client_ask(it.client, &request, sizeof request, &it.call) == HORUS_MISUSE);
  SAYS("belongs to a node that is in no step of this thread");
  CHECK(horus_client_close(it.client) == HORUS_MISUSE && horus_server_close(it.server) == HORUS_MISUSE);
  CHECK(horus_client_keep(it.client) == HORUS_OK);
  CHECK(horus_world_close(world) == HORUS_OK);
  CHECK(horus_client_ask(it.client, &request, sizeof request, &it.call) == HORUS_MISUSE);
  CHECK(horus_client_let_go(it.client) == HORUS_OK);
}

static void quiet(void) {
  save_map request = {3};
  map_saved answer;
  horus_ticket ticket;
  horus_call call;
  int i;
  horus_server *server = horus_server_open("map.save", save, saved, NULL);
  horus_client *client = horus_client_open("map.save", save, saved, NULL);
  CHECK(server != NULL && client != NULL);
  allow_no_system_call();
  for (i = 0; i < 10000; i++) {
    if (horus_client_ask(client, &request, sizeof request, &call) != HORUS_OK) _exit(1);
    if (horus_server_next(server, &request, sizeof request, NULL, &ticket, 0) != HORUS_OK) _exit(2);
    if (horus_server_answer(server, &ticket, &answer, sizeof answer) != HORUS_OK) _exit(3);
    if (horus_client_answer(client, call, &answer, sizeof answer, NULL) != HORUS_OK) _exit(4);
  }
  _exit(MADE_NO_SYSTEM_CALL);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  save = horus_layout_parse(SAVE);
  saved = horus_layout_parse(SAVED);
  text = horus_layout_of_bytes(16);
  CHECK(save != NULL && saved != NULL && text != NULL);
  if (strcmp(what, "quiet") == 0) quiet();
  if (strcmp(what, "serve") == 0) {
    horus_server *server = horus_server_open("map.save", save, saved, NULL);
    int requests = atoi(argv[2]);
    CHECK(server != NULL);
    while (requests-- > 0) answer_one(server);
    CHECK(horus_server_close(server) == HORUS_OK);
    return 0;
  }
  if (strcmp(what, "call") == 0) {
    save_map request;
    map_saved answer;
    horus_client *client = horus_client_open("map.save", save, saved, NULL);
    request.slot = (uint32_t)atoi(argv[2]);
    CHECK(client != NULL && horus_client_wait_until_served(client, LONG) == HORUS_OK);
    CHECK(horus_client_call(client, &request, sizeof request, &answer, sizeof answer, NULL, LONG) == HORUS_OK);
    printf("%u cells\n", answer.cells);
    CHECK(horus_client_close(client) == HORUS_OK);
    return 0;
  }
  answers_and_errors();
  of_bytes();
  in_nodes();
  puts("all of it holds");
  return 0;
}

#ifndef HORUS_H
#define HORUS_H

/* Made of runtime/bindings/c by its test `header`: change that. */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* What a horus_options begins as. */
#define HORUS_OPTIONS {sizeof(horus_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

// The version of this interface. A program that was built for another first number does not work with this library.
#define HORUS_ABI_VERSION 1

// Of a horus_value: it has none.
#define HORUS_NONE 0

// Of a horus_value: `is_true` holds.
#define HORUS_BOOL 1

// Of a horus_value: `whole` holds.
#define HORUS_WHOLE 2

// Of a horus_value: `number` holds.
#define HORUS_NUMBER 3

// Of a horus_value: `text` holds.
#define HORUS_TEXT 4

// The value came from the program's own declaration.
#define HORUS_FROM_PROGRAM 0

// The value came from the node.toml that `settings` names.
#define HORUS_FROM_SETTINGS 1

// A command or a program set the value.
#define HORUS_FROM_COMMAND 2

// The value was saved before the program started, or loaded since.
#define HORUS_FROM_SAVED 3

// What a topic does when a subscriber is slow.
#define HORUS_ANY_DELIVERY_POLICY 0

// The oldest message is overwritten, and every loss is counted.
#define HORUS_LATEST 1

// Sending is refused, and nothing is lost.
#define HORUS_RELIABLE 2

// Waits as suits the topic.
#define HORUS_WAIT_DEFAULT 0

// Waits busily: the fastest, on a CPU of one's own.
#define HORUS_WAIT_SPIN 1

// Sleeps at once.
#define HORUS_WAIT_SLEEP 2

// Looks once every `wait_strategy_ns`, and sleeps meanwhile.
#define HORUS_WAIT_POLL 3

// Waits busily for `wait_strategy_ns`, and then sleeps.
#define HORUS_WAIT_SPIN_THEN_SLEEP 4

// The most subscribers that one call waits for.
#define HORUS_MAX_WAIT 64

// What a call came to. Where it is negative, `horus_error` has a sentence that says why and what to do.
typedef enum {
  // It was done.
  HORUS_OK = 0,
  // There is no message, or none came in time. No error.
  HORUS_EMPTY = 1,
  // There is no room, or none came in time. No error.
  HORUS_FULL = 2,
  // Behind the last message of an answer. No error.
  HORUS_END = 3,
  // The arguments make no sense: null, a closed handle, a wrong size.
  HORUS_MISUSE = -1,
  // The system or another program is in the way.
  HORUS_FAILED = -2,
  // A defect of HORUS: a panic that was caught.
  HORUS_PANICKED = -3,
  // A call: no living program serves the service. The request was not sent.
  HORUS_CALL_NOT_SERVED = -10,
  // A call: the server was killed, crashed or was replaced, and may have done what it was asked to.
  HORUS_CALL_DIED = -11,
  // A call: the server ended in order before it answered.
  HORUS_CALL_STOPPED = -12,
  // A call: the server took the request, and gives no answer.
  HORUS_CALL_UNANSWERED = -13,
  // A call: the server lives, and did not answer within the limit.
  HORUS_CALL_TIMED_OUT = -14,
  // A call: 16 calls of this client are unanswered.
  HORUS_CALL_TOO_MANY = -15,
  // A call: the server has not taken the last 16 requests of this client.
  HORUS_CALL_FULL = -16,
  // A call: it has been answered, or belongs to another client.
  HORUS_CALL_OVER = -17,
  // A goal: the server does not take it.
  HORUS_GOAL_REJECTED = -18,
} horus_status;

// The end of an action that sends goals. One thread at a time uses it; one that `horus_app_action_client` made belongs to its program, ends with it,
// and only the step of its node uses it.
typedef struct horus_action_client horus_action_client;

// The end of an action that works on goals. There is one at a time. One thread at a time uses it; one that `horus_app_action_server` made belongs to
// its program, ends with it, and only the step of its node uses it.
typedef struct horus_action_server horus_action_server;

// A program of nodes.
typedef struct horus_app horus_app;

// Sends a moving frame. One thread at a time uses it.
typedef struct horus_broadcaster horus_broadcaster;

// The asking end of a service. One thread at a time uses it; one that `horus_app_client` made belongs to its program, ends with it, and only the
// step of its node uses it.
typedef struct horus_client horus_client;

// All frames of a namespace, to be looked up. One thread at a time uses it.
typedef struct horus_frames horus_frames;

// What a node reads. It belongs to its program, ends with it, and only the step of its node uses it.
typedef struct horus_input horus_input;

// The layout of a message, or of bytes. Any number of threads may use it at a time, until it is closed.
typedef struct horus_layout horus_layout;

// A node of a program, as long as that does not run. It ends with its program.
typedef struct horus_node horus_node;

// What a node writes. It belongs to its program, ends with it, and only the step of its node uses it.
typedef struct horus_output horus_output;

// A parameter of a node. Its steps read it, and it is closed when no step reads it any more, or never.
typedef struct horus_param horus_param;

// The parameters of a program that runs. One thread at a time uses it.
typedef struct horus_params horus_params;

// The publishing end of a topic. One thread at a time uses it.
typedef struct horus_publisher horus_publisher;

// The answering end of a service. There is one at a time. One thread at a time uses it; one that `horus_app_server` made belongs to its program,
// ends with it, and only the step of its node uses it.
typedef struct horus_server horus_server;

// Sends static frames. One thread at a time uses it.
typedef struct horus_static_broadcaster horus_static_broadcaster;

// A subscribing end of a topic. One thread at a time uses it.
typedef struct horus_subscriber horus_subscriber;

// The nodes of a program in virtual time: step by step, faster than real time, the same each time. One thread at a time uses it, and it
// calls the steps.
typedef struct horus_world horus_world;

// How a topic is made and joined. It begins as HORUS_OPTIONS, which is what suits most: `horus_options options = HORUS_OPTIONS;`. A later
// library may know more fields, behind these: by `size` it sees which of them its caller has.
typedef struct {
  // `sizeof(horus_options)`, as HORUS_OPTIONS says.
  size_t size;
  // HORUS_LATEST, HORUS_RELIABLE, or HORUS_ANY_DELIVERY_POLICY: a subscriber's as the topic is, a publisher's `latest`.
  uint32_t delivery_policy;
  // Messages that a publisher's lane holds, a power of two from 1 to 2^20; 0 for 16.
  uint32_t capacity;
  // Publishers at a time, 1 to 63; 0 for 1. Of a server: clients at a time, 8 to 63; 0 for 8.
  uint32_t publishers;
  // Of a subscriber: messages sent before it joined that it wants of each publisher.
  uint32_t history;
  // HORUS_WAIT_DEFAULT, HORUS_WAIT_SPIN, HORUS_WAIT_SLEEP, HORUS_WAIT_POLL or HORUS_WAIT_SPIN_THEN_SLEEP.
  uint32_t wait_strategy;
  // Of a publisher: 1 to stamp each message with the time of sending.
  uint32_t stamped;
  // The folder of the topic's file; null for $HORUS_SHM_DIR or /dev/shm/horus.
  const char *directory;
  // The group whose members may use the topic; null for no other user.
  const char *group;
  // Nanoseconds of HORUS_WAIT_POLL and HORUS_WAIT_SPIN_THEN_SLEEP.
  uint64_t wait_strategy_ns;
  // 1 for a topic whose publishers wake no subscriber, so that sending never makes a system call: its subscribers look for
  // messages busily or by the clock.
  uint32_t never_wake;
  // 1 to have who comes late get the newest message of every publisher, living or gone. The topic of such a publisher stays when all its users
  // are gone. An earlier library refuses it.
  uint32_t latched;
  // Of a service: 1 to let up to 8 servers serve it, of which each request goes to one. All of its servers and clients say so, or none.
  uint32_t shared;
  // 0.
  uint32_t spare;
} horus_options;

// What a goal is known by: 16 bytes, as ROS 2's UUID.
typedef struct {
  // The bytes.
  uint8_t bytes[16];
} horus_goal_id;

// What there is to tell of a goal.
typedef uint32_t horus_news;

// Where a goal stands: the numbers are those of ROS 2.
typedef uint32_t horus_goal_status;

// What ended a goal, or has it end.
typedef uint32_t horus_goal_cause;

// News of a goal.
typedef struct {
  // HORUS_NEWS_ACCEPTED, HORUS_NEWS_FEEDBACK or HORUS_NEWS_ENDED.
  horus_news news;
  // Of a goal that has ended: HORUS_GOAL_SUCCEEDED, HORUS_GOAL_CANCELED or HORUS_GOAL_ABORTED.
  horus_goal_status status;
  // Of a goal that has ended: what ended it.
  horus_goal_cause cause;
  // Of a goal that has ended: whether it has a result.
  uint32_t has_result;
  // Of a goal that has ended: why, for people; it ends with a zero byte.
  char reason[96];
} horus_progress;

// What becomes of a goal that comes while another one runs.
typedef uint32_t horus_preemption;

// A goal that runs.
typedef struct {
  // What it is known by.
  horus_goal_id id;
  // HORUS_GOAL_EXECUTING, or HORUS_GOAL_CANCELING: then end it by `horus_action_server_canceled`, as soon as what moves stands.
  horus_goal_status status;
  // Why it is to be canceled.
  horus_goal_cause cause;
  // Whether the program is handed the goal for the first time.
  uint32_t is_new;
  // 0.
  uint32_t spare;
  // When it was accepted, in nanoseconds on CLOCK_MONOTONIC.
  uint64_t accepted_ns;
} horus_goal;

// How serious an entry of the journal is.
typedef uint32_t horus_priority;

// A field of an entry: its name is HORUS_ and then A-Z, 0-9 and _.
typedef struct {
  // Its name.
  const char *name;
  // Its value.
  const char *value;
} horus_field;

// What a node is told about the cycle that it is in.
typedef struct {
  // Counts the releases; one that was skipped uses up its number.
  uint64_t number;
  // The point of the grid, or the time of the event, in nanoseconds on CLOCK_MONOTONIC: what control laws use.
  uint64_t release_ns;
  // When the loop was running again.
  uint64_t wake_ns;
  // When the work must be done.
  uint64_t deadline_ns;
  // For `horus_cycle_fail` and `horus_cycle_log`.
  void *inner;
} horus_cycle;

// The work of a node: called once a cycle, by one thread at a time. `context` is what `horus_app_node` was given. It ends by returning:
// `longjmp` out of it is undefined, and a C++ exception that leaves it ends the process.
typedef void (*horus_step)(void *context, const horus_cycle *cycle);

// Work without a deadline: `now_ns` is the time on CLOCK_MONOTONIC, and the largest number at the last call.
typedef void (*horus_work)(void *context, uint64_t now_ns);

// Declares the nodes of a program. What it gives is HORUS_OK, or less than 0 when something went wrong.
typedef int (*horus_declare)(horus_app *app, void *context);

// How serious a line of a node is.
typedef uint32_t horus_level;

// What a value of a line is.
typedef uint32_t horus_log_kind;

// A value of a line: the macro `horus_log` of log.h makes it.
typedef struct {
  // What it is.
  horus_log_kind kind;
  // 0.
  uint32_t spare;
  // A number, or the bytes of a text.
  uint64_t bits;
  // A text, which need not end with a zero byte.
  const char *text;
} horus_log_value;

// What a miss leads to.
typedef uint32_t horus_reaction;

// What a parameter can be.
typedef struct {
  // HORUS_BOOL, HORUS_WHOLE, HORUS_NUMBER, HORUS_TEXT or HORUS_NONE.
  uint32_t kind;
  // 0 or 1.
  uint32_t is_true;
  // A whole number.
  int64_t whole;
  // A finite number.
  double number;
  // A text of at most 64 bytes, which ends with a zero byte.
  char text[72];
} horus_value;

// What is said of a parameter beside its name and its default. It begins as zeros: `horus_param_wishes wishes = {0};`.
typedef struct {
  // Its unit, such as "1/s", at most 16 bytes; null for none.
  const char *unit;
  // What it is for, as a sentence without its end, at most 200 bytes; null for none.
  const char *about;
  // The least value, of the kind of the default; null where all are possible.
  const horus_value *least;
  // The greatest value; null where all are possible.
  const horus_value *greatest;
  // 1 to have it change at the program's start alone.
  uint32_t read_only;
  // Nothing: 0.
  uint32_t reserved;
} horus_param_wishes;

// What is known of a message beside what it says.
typedef struct {
  // Its number among its publisher's.
  uint64_t sequence;
  // When it was sent, in nanoseconds on CLOCK_MONOTONIC; 0 when its publisher stamps none.
  uint64_t sent_ns;
  // Number of the publisher that sent it.
  uint64_t publisher;
  // How many bytes it has.
  uint64_t bytes;
} horus_received;

// Messages that an output did not publish, by their cause.
typedef struct {
  // They found the topic full: a subscriber of a reliable one has yet to read, or subscribers hold what stands in their place.
  uint64_t full;
  // They were more than the topic holds in one step.
  uint64_t beyond;
  // Of a step whose outcome was discarded: it failed, or a monitor took its place.
  uint64_t discarded;
  // They were set while no step could.
  uint64_t outside;
  // They were no messages of the topic: bytes, and more than its maximum.
  uint64_t invalid;
} horus_lost;

// What a node does.
typedef struct {
  // Cycles that ran to completion.
  uint64_t cycles;
  // Cycles that completed late, and skipped releases.
  uint64_t misses;
  // Releases that were skipped; contained in `misses`.
  uint64_t skipped;
  // The longest run of consecutive releases that were missed.
  uint64_t max_consecutive;
  // The longest response time.
  uint64_t max_response_ns;
  // The largest release jitter.
  uint64_t max_jitter_ns;
  // Whether it is in its safe state.
  uint32_t is_safe;
  // Whether it ended its program, after misses.
  uint32_t has_stopped;
} horus_tally;

// A parameter of a program that runs, at one moment.
typedef struct {
  // The node that it belongs to.
  char node[72];
  // Its name.
  char name[72];
  // Its value; HORUS_NONE where the program's memory holds none that it can be.
  horus_value value;
  // The program's own value.
  horus_value default_value;
  // The least value; HORUS_NONE where all are possible.
  horus_value least;
  // The greatest value; HORUS_NONE where all are possible.
  horus_value greatest;
  // 1 if it changes at the program's start alone.
  uint32_t read_only;
  // HORUS_FROM_PROGRAM, HORUS_FROM_SETTINGS, HORUS_FROM_COMMAND or HORUS_FROM_SAVED.
  uint32_t from;
  // Number of the user that set it; the largest number where that was none.
  uint32_t user;
  // Nothing.
  uint32_t reserved;
  // When it was set, in seconds since 1970; 0 where it came from the program or node.toml.
  uint64_t set_at;
  // When the value was set that the program has saved, in seconds since 1970; 0 where it has saved none.
  uint64_t saved_at;
  // Its unit; empty where it has none.
  char unit[24];
  // What it is for; empty where the program does not say.
  char about[208];
  // The node.toml that it came from; else empty.
  char settings[256];
} horus_parameter;

// A parameter and the value that it is to have.
typedef struct {
  // "gain", or "drive.gain" where several nodes have it.
  const char *name;
  // The value.
  horus_value value;
} horus_assignment;

// A call that is on its way: a number of its client's.
typedef uint64_t horus_call;

// Who asked what: a request is answered with the ticket that came with it, at once or later.
typedef struct {
  // Which client.
  uint64_t client;
  // Which of its requests.
  uint64_t number;
} horus_ticket;

// How a topic is made.
typedef struct {
  // Bytes of a message; of a topic of bytes, the most that a message may have.
  uint64_t message_bytes;
  // HORUS_LATEST or HORUS_RELIABLE.
  uint32_t delivery_policy;
  // Messages that it holds of each publisher.
  uint32_t capacity;
} horus_shape;

// How a frame is moved and turned in another one: it takes coordinates in the child to those in the parent.
typedef struct {
  // From the parent's origin to the child's: x, y, z in metres along the parent's axes.
  double translation[3];
  // How the child is turned in the parent: a unit quaternion x, y, z, w.
  double rotation[4];
} horus_transform;

// The server has taken it, and does not work on it yet.
#define HORUS_GOAL_ACCEPTED 1

// The server works on it.
#define HORUS_GOAL_EXECUTING 2

// It is to be canceled, and the server has yet to end it.
#define HORUS_GOAL_CANCELING 3

// It was reached.
#define HORUS_GOAL_SUCCEEDED 4

// It was canceled.
#define HORUS_GOAL_CANCELED 5

// The server gave it up.
#define HORUS_GOAL_ABORTED 6

// The new one is rejected.
#define HORUS_GOAL_REFUSE 0

// It is accepted, and waits until its turn comes.
#define HORUS_GOAL_QUEUE 1

// It takes the place of the other, which is aborted, or ends as canceled if it is canceling.
#define HORUS_GOAL_REPLACE 2

// The server's program decided so.
#define HORUS_CAUSE_PROGRAM 0

// Another goal runs, and the server takes no other meanwhile, or has no room for more.
#define HORUS_CAUSE_BUSY 1

// A newer goal took its place.
#define HORUS_CAUSE_REPLACED 2

// Its client is gone.
#define HORUS_CAUSE_CLIENT_GONE 3

// A client canceled it.
#define HORUS_CAUSE_CANCELED 4

// It cannot be read: both programs have to be built from the same type.
#define HORUS_CAUSE_UNREADABLE 5

// A living goal has the same number.
#define HORUS_CAUSE_TWICE 6

// The server's result cannot be sent.
#define HORUS_CAUSE_NO_RESULT 7

// The server has taken it.
#define HORUS_NEWS_ACCEPTED 1

// How far it is: the feedback was copied.
#define HORUS_NEWS_FEEDBACK 2

// It has ended: `status`, `cause` and `reason` say how, and `has_result` whether the result was copied.
#define HORUS_NEWS_ENDED 3

// Failed: a person has to act.
#define HORUS_JOURNAL_ERROR 3

// Worth a look.
#define HORUS_JOURNAL_WARNING 4

// The normal course of things.
#define HORUS_JOURNAL_INFO 6

// For finding a mistake.
#define HORUS_LOG_DEBUG 0

// The normal course of things.
#define HORUS_LOG_INFO 1

// Worth a look.
#define HORUS_LOG_WARN 2

// Failed: a person has to act.
#define HORUS_LOG_ERROR 3

// An integer: `bits` is its two's complement.
#define HORUS_LOG_SIGNED 1

// An integer that is not negative.
#define HORUS_LOG_UNSIGNED 2

// A double: `bits` are its bits.
#define HORUS_LOG_DOUBLE 3

// A float: the low half of `bits` are its bits.
#define HORUS_LOG_FLOAT 4

// A truth value: `bits` is not 0 where it is true.
#define HORUS_LOG_BOOL 5

// A text at `text`: `bits` is how many bytes it has.
#define HORUS_LOG_TEXT 6

// It is counted.
#define HORUS_COUNT 0

// It is counted, and told in the journal: so it is unless said otherwise.
#define HORUS_WARN 1

// The next release is left out, so that others catch up.
#define HORUS_SKIP 2

// From then on the node's safe state is called in place of its step.
#define HORUS_SAFE_STATE 3

// The program ends, with a failure.
#define HORUS_STOP 4

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The interface's version of the library that runs: compare it with `HORUS_ABI_VERSION`.
uint32_t horus_abi_version(void);

// Becomes a client of `action`, which may come before its server; null when it is refused: other types under the same name, more clients than the
// action has room for. Of `options`, which may be null, directory, group and wait strategy count.
//
// # Safety
// `action` ends with a zero byte, the layouts are handles that are not closed meanwhile, `options` is null or may be read.
horus_action_client *horus_action_client_open(const char *action,
                                              horus_layout *goal,
                                              horus_layout *feedback,
                                              horus_layout *result,
                                              const horus_options *options);

// The end of an action that sends goals, for the next node: it sends in one step, and looks in later ones. Null when it is refused; the program does
// not run then.
//
// # Safety
// `app` is a handle that no other call uses meanwhile; otherwise as `horus_action_client_open`.
horus_action_client *horus_app_action_client(horus_app *app,
                                             const char *action,
                                             horus_layout *goal,
                                             horus_layout *feedback,
                                             horus_layout *result,
                                             const horus_options *options);

// Sends a goal, and does not wait: `id` is looked at later. HORUS_CALL_TOO_MANY while 16 goals of this client are not over, HORUS_CALL_FULL while the
// server has not taken the last ones.
//
// # Safety
// `client` is a handle that no other call uses meanwhile, `bytes` bytes may be read at `goal`, `id` may be written.
horus_status horus_action_client_send(horus_action_client *client,
                                      const void *goal,
                                      size_t bytes,
                                      horus_goal_id *id);

// What there is to tell of a goal, without waiting: first that it was accepted, then its feedbacks in order, at last its outcome, with which it is
// over. HORUS_EMPTY when there is nothing new. A goal without an outcome ends with the reason: HORUS_GOAL_REJECTED, HORUS_CALL_DIED,
// HORUS_CALL_STOPPED, HORUS_CALL_NOT_SERVED. It does not notice by itself that a server was killed; `horus_action_client_check_server` does.
//
// # Safety
// `client` is a handle that no other call uses meanwhile, `id` may be read, `feedback_bytes` bytes may be written at `feedback`, `result_bytes` bytes
// at `result`, and `progress` may be written.
horus_status horus_action_client_look(horus_action_client *client,
                                      const horus_goal_id *id,
                                      void *feedback,
                                      size_t feedback_bytes,
                                      void *result,
                                      size_t result_bytes,
                                      horus_progress *progress);

// Asks for a goal to be canceled, any client's, and does not wait: its outcome says what became of it.
//
// # Safety
// `client` is a handle that no other call uses meanwhile, and `id` may be read.
horus_status horus_action_client_cancel(horus_action_client *client,
                                        const horus_goal_id *id);

// Waits for news of goals, at most `timeout_ns` nanoseconds, for ever if that is negative; HORUS_EMPTY when the time is up.
//
// # Safety
// `client` is a handle that no other call uses meanwhile.
horus_status horus_action_client_wait(horus_action_client *client,
                                      int64_t timeout_ns);

// Asks the kernel whether the server lives, HORUS_OK or HORUS_EMPTY; if not, all goals that are not over end with their error. Makes system calls.
//
// # Safety
// `client` is a handle that no other call uses meanwhile.
horus_status horus_action_client_check_server(horus_action_client *client);

// Waits at most `timeout_ns` nanoseconds, for ever if that is negative, until a living program serves it; HORUS_EMPTY when the time is up.
//
// # Safety
// `client` is a handle that no other call uses meanwhile.
horus_status horus_action_client_wait_until_served(horus_action_client *client,
                                                   int64_t timeout_ns);

// Ends a client: its goals that are not over are canceled, unless the server says otherwise. Null is nothing to end. One of a node ends with its
// program.
//
// # Safety
// `client` is null or a handle that no other call uses meanwhile, and it is not used any more but by who keeps it.
horus_status horus_action_client_close(horus_action_client *client);

// Keeps a client beyond its end, until `horus_action_client_let_go`: using it is an error then. Each call counts. Any thread may call this.
//
// # Safety
// `client` is null or a handle that was not closed and whose program has not ended, or that is kept.
horus_status horus_action_client_keep(horus_action_client *client);

// Ends what `horus_action_client_keep` began. Null is nothing to end.
//
// # Safety
// As there; for this keeper it is not used any more.
horus_status horus_action_client_let_go(horus_action_client *client);

// Becomes the server of `action`, whose goals, feedbacks and results are structs of these layouts; null when it is refused: another server lives, or
// the types are others. `policy` is what becomes of a goal that comes while another one runs. Of `options`, which may be null, directory, group and
// wait strategy count, and `publishers` is how many clients it has room for: 8 if that is 0.
//
// # Safety
// `action` ends with a zero byte, the layouts are handles that are not closed meanwhile, `options` is null or may be read.
horus_action_server *horus_action_server_open(const char *action,
                                              horus_layout *goal,
                                              horus_layout *feedback,
                                              horus_layout *result,
                                              horus_preemption policy,
                                              const horus_options *options);

// The end of an action that works on goals, for the next node: its steps ask for the goal that runs. A node with a period takes goals in by its steps;
// `horus_node_on` with `ACTION.goal` releases one by goals. Null when it is refused; the program does not run then.
//
// # Safety
// `app` is a handle that no other call uses meanwhile; otherwise as `horus_action_server_open`.
horus_action_server *horus_app_action_server(horus_app *app,
                                             const char *action,
                                             horus_layout *goal,
                                             horus_layout *feedback,
                                             horus_layout *result,
                                             horus_preemption policy,
                                             const horus_options *options);

// Takes in what came, and gives the goal that runs: copies it to `goal`, of `bytes` bytes, and tells of it in `about`. HORUS_EMPTY when none runs.
// Waits at most `timeout_ns` nanoseconds for one, for ever if that is negative; in a node it does not wait. The goal stays the one that runs until it
// is ended.
//
// # Safety
// `server` is a handle that no other call uses meanwhile, `bytes` bytes may be written at `goal`, `about` may be written.
horus_status horus_action_server_goal(horus_action_server *server,
                                      void *goal,
                                      size_t bytes,
                                      horus_goal *about,
                                      int64_t timeout_ns);

// Tells how far a goal is.
//
// # Safety
// `server` is a handle that no other call uses meanwhile, `id` may be read, and `bytes` bytes at `feedback`.
horus_status horus_action_server_feedback(horus_action_server *server,
                                          const horus_goal_id *id,
                                          const void *feedback,
                                          size_t bytes);

// Ends a goal: it was reached. HORUS_FULL when it has ended, and its client was not told, because it does not look.
//
// # Safety
// `server` is a handle that no other call uses meanwhile, `id` may be read, and `bytes` bytes at `result`.
horus_status horus_action_server_succeed(horus_action_server *server,
                                         const horus_goal_id *id,
                                         const void *result,
                                         size_t bytes);

// Ends a goal that is to be canceled: it was. `result` is what was reached by then, or null.
//
// # Safety
// As `horus_action_server_succeed`, and `result` may be null.
horus_status horus_action_server_canceled(horus_action_server *server,
                                          const horus_goal_id *id,
                                          const void *result,
                                          size_t bytes);

// Ends a goal: the program gives it up, for a reason of up to 92 bytes. `result` is what was reached by then, or null.
//
// # Safety
// As `horus_action_server_canceled`; `why` is null or ends with a zero byte.
horus_status horus_action_server_abort(horus_action_server *server,
                                       const horus_goal_id *id,
                                       const void *result,
                                       size_t bytes,
                                       const char *why);

// Ends a server, and its goals with it: their clients are told. Null is nothing to end. One of a node ends with its program.
//
// # Safety
// `server` is null or a handle that no other call uses meanwhile, and it is not used any more but by who keeps it.
horus_status horus_action_server_close(horus_action_server *server);

// Keeps a server beyond its end, until `horus_action_server_let_go`: using it is an error then. Each call counts. Any thread may call this.
//
// # Safety
// `server` is null or a handle that was not closed and whose program has not ended, or that is kept.
horus_status horus_action_server_keep(horus_action_server *server);

// Ends what `horus_action_server_keep` began. Null is nothing to end.
//
// # Safety
// As there; for this keeper it is not used any more.
horus_status horus_action_server_let_go(horus_action_server *server);

// Writes an entry to the journal, or prints it to stderr where there is none. `fields` may be null when `count` is 0. It allocates and makes
// system calls: not for a step.
//
// # Safety
// `message` ends with a zero byte; `count` fields may be read at `fields`, whose texts end with a zero byte.
horus_status horus_journal(horus_priority priority,
                           const char *message,
                           const horus_field *fields,
                           size_t count);

// A layout from its text: `message package/Name`, then `field type` on a line each, with the types of `docs/layout-hash.md`. Null when the
// text describes none.
//
// # Safety
// `description` ends with a zero byte.
horus_layout *horus_layout_parse(const char *description);

// The layout of messages that are bytes of any length up to `maximum`. A message then has a length of its own: what sends it says how long it
// is, and what receives it has room for the longest one, and is told the length in `horus_received`.
horus_layout *horus_layout_of_bytes(size_t maximum);

// The hash that two programs compare; 0 of bytes, and of what is no layout.
//
// # Safety
// `layout` is null or a handle that is not closed meanwhile.
uint64_t horus_layout_hash(horus_layout *layout);

// Bytes of a message, the most that it can have; 0 of what is no layout.
//
// # Safety
// As `horus_layout_hash`.
size_t horus_layout_bytes(horus_layout *layout);

// Ends a layout; topics that were opened with it need it no longer. Null is nothing to end.
//
// # Safety
// As `horus_layout_hash`; it is not used any more.
horus_status horus_layout_close(horus_layout *layout);

// A program without nodes. Its settings are those of `node.toml`, and it understands the options of every program of nodes
// (`--describe`, `--releases N`, `--strict`); others on its command line are its own. What goes wrong from here on, the program says when it
// is run: nothing has to be looked at before. Null only when `name` is none.
//
// # Safety
// `name` ends with a zero byte.
horus_app *horus_app_new(const char *name);

// An input of the next node. `layout` says whether its messages are those of a struct or bytes of any length. `options` may be null. Null when it is refused; the program does not run then.
//
// # Safety
// `app` is a handle that no other call uses meanwhile, `layout` one that is not closed meanwhile, `topic` ends with a zero byte, `options` is null or may be read.
horus_input *horus_app_input(horus_app *app,
                             const char *topic,
                             horus_layout *layout,
                             const horus_options *options);

// An output of the next node, of a `latest` topic that holds 16 messages unless `options` say otherwise. Null when it is refused; the
// program does not run then.
//
// # Safety
// As `horus_app_input`.
horus_output *horus_app_output(horus_app *app,
                               const char *topic,
                               horus_layout *layout,
                               const horus_options *options);

// Adds a node, which has the inputs and outputs that were opened since the last one. `step` is called with `context` once a cycle. What this
// returns takes its period and its other wishes; it ends with the program.
//
// # Safety
// `app` is a handle that no other call uses meanwhile, `name` ends with a zero byte. Until the program has ended, a thread of its own may call
// `step` with `context`.
horus_node *horus_app_node(horus_app *app,
                           const char *name,
                           horus_step step,
                           void *context);

// Names nodes that hand data on to each other, the first one first, and the longest time from the first one's release to the last one's
// completion. A graph that may take longer is refused.
//
// # Safety
// `app` is a handle that no other call uses meanwhile; `count` texts may be read at `nodes`, each ends with a zero byte.
horus_status horus_app_chain(horus_app *app,
                             const char *const *nodes,
                             size_t count,
                             uint64_t end_to_end_ns);

// Ends the program after so many releases of each node.
//
// # Safety
// `app` is a handle that no other call uses meanwhile.
horus_status horus_app_releases(horus_app *app, uint64_t releases);

// Does not start unless the system grants everything that a node asks for.
//
// # Safety
// `app` is a handle that no other call uses meanwhile.
horus_status horus_app_strict(horus_app *app);

// Gives each thread of nodes a stack of so many bytes, all of which is locked; 512 KiB if not said otherwise.
//
// # Safety
// `app` is a handle that no other call uses meanwhile.
horus_status horus_app_stack(horus_app *app,
                             size_t bytes);

// Has a second SIGTERM or SIGINT within so many nanoseconds of the first one change nothing; 1 s if neither this nor node.toml says otherwise. A
// later one, or a third one, ends the program at once.
//
// # Safety
// `app` is a handle that no other call uses meanwhile.
horus_status horus_app_grace_ns(horus_app *app,
                                uint64_t nanoseconds);

// Adds work for the thread beside the loops, which has no deadline: `work` is called with `context` ten times a second, and a last time at the
// end.
//
// # Safety
// `app` is a handle that no other call uses meanwhile. Until the program has ended, a thread of its own may call `work` with `context`.
horus_status horus_app_background(horus_app *app,
                                  horus_work work,
                                  void *context);

// Runs the nodes until SIGTERM or SIGINT, until they have used up their releases, or until one of them ends the program; prints their
// accounts. Gives what `main` returns: 0, or 1 when it has printed why. It ends the app with its nodes, inputs and outputs.
//
// # Safety
// `app` is null or a handle that no other call uses; neither it nor what belongs to it is used any more.
int horus_app_run(horus_app *app);

// `main` of a program whose nodes `declare` declares with `context`: as `horus_app_new` and `horus_app_run`, for a function that a test can
// give to `horus_world_new`, too. An option that it does not know is an error.
//
// # Safety
// `name` ends with a zero byte. `declare` may be called with `context`, and until the program has ended, its threads may call the steps.
int horus_main(const char *name,
               horus_declare declare,
               void *context);

// Ends an app that is not to be run, with its nodes, inputs and outputs. Null is nothing to end.
//
// # Safety
// `app` is null or a handle that no other call uses; neither it nor what belongs to it is used any more.
horus_status horus_app_close(horus_app *app);

// Runs the nodes in the calling thread, each release as soon as the one before it is done, until each node had `releases` of them: for meters
// of the loop's own cost. Nothing is asked of the machine, and no other process hears of the nodes. It ends the app as
// `horus_app_run` does.
//
// # Safety
// As `horus_app_run`.
horus_status horus_app_run_in_place(horus_app *app,
                                    uint64_t releases);

// Keeps an input beyond the end of its program, until `horus_input_let_go`: it reads nothing then, and using it is an error. Each call counts.
// Any thread may call this.
//
// # Safety
// `input` is null or a handle whose program has not ended, or that is kept.
horus_status horus_input_keep(horus_input *input);

// Ends what `horus_input_keep` began. Null is nothing to end.
//
// # Safety
// As there; for this keeper it is not used any more.
horus_status horus_input_let_go(horus_input *input);

// As `horus_input_keep`.
//
// # Safety
// As there.
horus_status horus_output_keep(horus_output *output);

// As `horus_input_let_go`.
//
// # Safety
// As there.
horus_status horus_output_let_go(horus_output *output);

// As `horus_input_keep`.
//
// # Safety
// As there.
horus_status horus_node_keep(horus_node *node);

// As `horus_input_let_go`.
//
// # Safety
// As there.
horus_status horus_node_let_go(horus_node *node);

// Has a line written to the journal by a thread beside the loop: here the text and the values are copied alone, with no allocation, no lock and
// no system call. `text` has up to 120 bytes, and a place for each of up to 8 values: `{}`, `{:.3}` for digits behind the point, `{:x}`. A line
// that finds no room is counted and told. Where the text does not fit its values, HORUS_MISUSE, and the journal is told that. The macro `horus_log`
// of log.h calls this.
//
// # Safety
// `cycle` is the one that a running step was given, or a copy; `text` ends with a zero byte; `count` values may be read at `values`, and the
// bytes of their texts.
horus_status horus_cycle_log(const horus_cycle *cycle,
                             horus_level level,
                             const char *text,
                             const horus_log_value *values,
                             size_t count);

// Releases it once a period, on the grid that all nodes of the machine with this period share.
//
// # Safety
// `node` is null or a handle that no other call uses meanwhile, nor its app.
horus_status horus_node_period_ns(horus_node *node, uint64_t nanoseconds);

// Moves its grid by so much against that of other nodes.
//
// # Safety
// `node` is null or a handle that no other call uses meanwhile, nor its app.
horus_status horus_node_phase_ns(horus_node *node, uint64_t nanoseconds);

// The minimum inter-arrival time: the shortest between two releases by events. An event that comes sooner is served at its end.
//
// # Safety
// `node` is null or a handle that no other call uses meanwhile, nor its app.
horus_status horus_node_min_inter_arrival_ns(horus_node *node,
                                             uint64_t nanoseconds);

// The CPU time that a cycle may take.
//
// # Safety
// `node` is null or a handle that no other call uses meanwhile, nor its app.
horus_status horus_node_budget_ns(horus_node *node, uint64_t nanoseconds);

// The time from release to completion that counts as in time; the period if not said otherwise.
//
// # Safety
// `node` is null or a handle that no other call uses meanwhile, nor its app.
horus_status horus_node_deadline_ns(horus_node *node, uint64_t nanoseconds);

// How long nothing may come on an input until it is stale, and the journal says so; 100 periods and 1 s at least if not said otherwise.
//
// # Safety
// `node` is null or a handle that no other call uses meanwhile, nor its app.
horus_status horus_node_stale_after_ns(horus_node *node,
                                       uint64_t nanoseconds);

// As `horus_node_stale_after_ns`, for the input of one topic; the others keep theirs.
//
// # Safety
// As `horus_node_period_ns`; `topic` ends with a zero byte.
horus_status horus_node_stale_after_of_ns(horus_node *node,
                                          const char *topic,
                                          uint64_t nanoseconds);

// How long after its release a cycle may be under way before the monitor publishes what is safe: from the deadline to 100 periods, or 1 s where
// that is longer. A period and the budget, or a tenth of the period if that is longer, if not said otherwise. The node has a period and reacts by
// its safe state, or its program does not run.
//
// # Safety
// `node` is null or a handle that no other call uses meanwhile, nor its app.
horus_status horus_node_monitor_limit_ns(horus_node *node,
                                         uint64_t nanoseconds);

// Releases it when a message comes on this topic, which is one of its inputs.
//
// # Safety
// As `horus_node_period_ns`; `topic` ends with a zero byte.
horus_status horus_node_on(horus_node *node, const char *topic);

// The CPU that it runs on, as node.toml says it: `isolated`, `isolated:1`, `housekeeping`, `2`, `2-3`.
//
// # Safety
// As `horus_node_period_ns`; `cpu` ends with a zero byte.
horus_status horus_node_cpu(horus_node *node,
                            const char *cpu);

// The scheduling policy by which the kernel chooses it, as node.toml says it: `fifo:80`, `rr:80`, `deadline`, `other`.
//
// # Safety
// As `horus_node_period_ns`; `policy` ends with a zero byte.
horus_status horus_node_scheduling_policy(horus_node *node,
                                          const char *policy);

// What becomes of misses, from the `after`-th one within `within` releases; `within` 0 for all of them in a row.
//
// # Safety
// As `horus_node_period_ns`.
horus_status horus_node_on_miss(horus_node *node,
                                horus_reaction reaction,
                                uint32_t after,
                                uint32_t within);

// As `horus_node_on_miss`: from then on, one release of `every` is served.
//
// # Safety
// As `horus_node_period_ns`.
horus_status horus_node_degrade(horus_node *node, uint32_t every, uint32_t after, uint32_t within);

// Sets what keeps the robot safe, in place of a step, after misses that `horus_node_on_miss` names. It is called once before the first
// release; what it sets then is remembered and not published. So it sets the same each time, and waits for nothing.
//
// # Safety
// As `horus_node_period_ns`, and as `horus_app_node` for `safe_state` in place of `step`.
horus_status horus_node_safe_state(horus_node *node,
                                   horus_step safe_state);

// Logical execution time: its inputs are those of its release, and its outputs are those of its deadline.
//
// # Safety
// As `horus_node_period_ns`.
horus_status horus_node_logical_execution_time(horus_node *node);

// A parameter of the next node, with the value that it has where nothing else is said, and of that kind. `wishes` may be null. Null when it is
// refused; the program does not run then. Other programs set it while this one runs, and all that a step reads of its parameters is of one set.
//
// # Safety
// `app` is a handle that no other call uses meanwhile, `name` ends with a zero byte, `value` may be read, and `wishes` is null or may be read
// with all that it points to.
horus_param *horus_app_param(horus_app *app,
                             const char *name,
                             const horus_value *value,
                             const horus_param_wishes *wishes);

// Has the members of a group alone set the program's parameters, if node.toml names no other one. Who may use its topics may read them.
//
// # Safety
// `app` is a handle that no other call uses meanwhile, `group` ends with a zero byte.
horus_status horus_app_param_group(horus_app *app,
                                   const char *group);

// The value of a number in this cycle, whole or not; 0 of what is none, and then `horus_error` says so.
//
// # Safety
// `param` is a handle that is not closed meanwhile.
double horus_param_number(horus_param *param);

// The value of a whole number in this cycle; 0 of what is none, and then `horus_error` says so.
//
// # Safety
// `param` is a handle that is not closed meanwhile.
int64_t horus_param_whole(horus_param *param);

// Whether a truth value holds in this cycle: 0 or 1; 0 of what is none, and then `horus_error` says so.
//
// # Safety
// `param` is a handle that is not closed meanwhile.
int horus_param_is_true(horus_param *param);

// Copies the value of a text in this cycle, and a zero byte behind it: `bytes` bytes of room, 65 of which are enough for all.
//
// # Safety
// `param` is a handle that is not closed meanwhile, `bytes` bytes may be written at `into`.
horus_status horus_param_text(horus_param *param,
                              char *into,
                              size_t bytes);

// Ends the handle. Null is nothing to end.
//
// # Safety
// `param` is null or a handle that is not used any more.
horus_status horus_param_close(horus_param *param);

// Sets a parameter of a node, as `horus param set` does; the node has it from its next step on. HORUS_FAILED when there is none of this name, or it
// may not have this value; nothing changes then.
//
// # Safety
// `world` is a handle that no other call uses meanwhile, both names end with a zero byte, `value` may be read.
horus_status horus_world_set_param(horus_world *world,
                                   const char *node,
                                   const char *name,
                                   const horus_value *value);

// Copies the newest message, however old it is by now; HORUS_EMPTY before the first. No allocation. A message of a struct has `bytes` bytes, and
// `about` may be null. For one of bytes there are `bytes` bytes of room, as many as the longest message has, and `about` tells how many came.
//
// # Safety
// `input` is a handle that no other call uses meanwhile, `bytes` bytes may be written at `message`, `about` is null or may be written.
horus_status horus_input_latest(horus_input *input,
                                void *message,
                                size_t bytes,
                                horus_received *about);

// Copies the newest message, if it came since the last look; HORUS_EMPTY otherwise.
//
// # Safety
// As `horus_input_latest`.
horus_status horus_input_fresh(horus_input *input,
                               void *message,
                               size_t bytes,
                               horus_received *about);

// Copies the oldest message that came and was not read yet: each once, in the order of each publisher.
//
// # Safety
// As `horus_input_latest`.
horus_status horus_input_next(horus_input *input,
                              void *message,
                              size_t bytes,
                              horus_received *about);

// How long before `now_ns` the newest message was sent that was read, in nanoseconds at `*age_ns`; HORUS_EMPTY before the first, and where its
// publisher stamps none. Every output stamps. What control laws use for `now_ns` is the cycle's `release_ns`.
//
// # Safety
// `input` is a handle that no other call uses meanwhile; `age_ns` may be written.
horus_status horus_input_age_ns(horus_input *input,
                                uint64_t now_ns,
                                uint64_t *age_ns);

// How many messages were overwritten before they were read; 0 of what is no input.
//
// # Safety
// `input` is null or a handle that no other call uses meanwhile.
uint64_t horus_input_missed(horus_input *input);

// Publishes a message of `bytes` bytes when the step returns, after what the step set before; HORUS_FULL when it is not taken, because there is
// no room for it: a subscriber of a reliable topic has yet to read, or the step has set as many messages as the topic holds. Those before it
// stay, and `horus_output_lost` counts this one. No allocation. A message of a struct has the bytes of its layout. One of bytes has up to the
// maximum, and may be null where it has none.
//
// # Safety
// `output` is a handle that no other call uses meanwhile, and `bytes` bytes may be read at `message`.
horus_status horus_output_set(horus_output *output,
                              const void *message,
                              size_t bytes);

// Says what was set on this output and not published, since the program began.
//
// # Safety
// `output` is a handle that no other call uses meanwhile; `lost` may be written.
horus_status horus_output_lost(horus_output *output, horus_lost *lost);

// Refuses a program that is being declared, for a reason of the caller's: it does not run then, and says so. The first reason counts.
//
// # Safety
// `app` is a handle that no other call uses meanwhile; `why` is null or ends with a zero byte.
horus_status horus_app_refuse(horus_app *app,
                              const char *why);

// Says that this node cannot go on: when its step returns, the program ends with this reason, as one whose step panics in Rust. Only the
// first reason counts.
//
// # Safety
// `cycle` is the one that a running step was given, or a copy; `why` is null or ends with a zero byte.
horus_status horus_cycle_fail(const horus_cycle *cycle,
                              const char *why);

// Builds the nodes that `declare` declares with `context`. No time has passed. Null when they are refused.
//
// # Safety
// `declare` may be called with `context`, and until the world is closed, so may the steps.
horus_world *horus_world_new(horus_declare declare,
                             void *context);

// As `horus_world_new`, with the settings of a node.toml.
//
// # Safety
// As `horus_world_new`; `file` ends with a zero byte.
horus_world *horus_world_with_settings(const char *file, horus_declare declare, void *context);

// The time that has passed, in nanoseconds; 0 of what is no world.
//
// # Safety
// `world` is null or a handle that no other call uses meanwhile.
uint64_t horus_world_now_ns(horus_world *world);

// Lets time pass, and the nodes run. A step that fails is an error.
//
// # Safety
// `world` is a handle that no other call uses meanwhile.
horus_status horus_world_run_for(horus_world *world, uint64_t nanoseconds);

// Publishes a message of `bytes` bytes, as another program would. A message of a struct has the bytes of its layout. One of bytes has up to the
// maximum, and may be null where it has none.
//
// # Safety
// `world` is a handle that no other call uses meanwhile, `layout` one that is not closed meanwhile, `topic` ends with a zero byte, `bytes` bytes may be read at `message`.
horus_status horus_world_publish(horus_world *world,
                                 const char *topic,
                                 horus_layout *layout,
                                 const void *message,
                                 size_t bytes);

// Copies the newest message of a topic; HORUS_EMPTY while there is none. A message of a struct has `bytes` bytes, and `about` may be null. For one
// of bytes there are `bytes` bytes of room, as many as the longest message has, and `about` tells how many there are.
//
// # Safety
// As `horus_world_publish`, `bytes` bytes may be written at `message`, and `about` is null or may be written.
horus_status horus_world_last(horus_world *world,
                              const char *topic,
                              horus_layout *layout,
                              void *message,
                              size_t bytes,
                              horus_received *about);

// Ends a world. Null is nothing to end.
//
// # Safety
// `world` is null or a handle that no other call uses meanwhile, and it is not used any more.
horus_status horus_world_close(horus_world *world);

// The account of a node.
//
// # Safety
// As `horus_world_delay`; `tally` may be written.
horus_status horus_world_tally(horus_world *world, const char *node, horus_tally *tally);

// What the journal would say: the text of entry `index`, from 0, valid until the next call with this world; null when there are not so many.
//
// # Safety
// `world` is a handle that no other call uses meanwhile.
const char *horus_world_journal(horus_world *world,
                                size_t index);

// Has a node wake up so much after its releases, for `cycles` cycles; 0 for ever.
//
// # Safety
// `world` is a handle that no other call uses meanwhile, `node` ends with a zero byte.
horus_status horus_world_delay(horus_world *world,
                               const char *node,
                               uint64_t nanoseconds,
                               uint64_t cycles);

// Has a node's steps take so long, for `cycles` cycles; 0 for ever.
//
// # Safety
// As `horus_world_delay`.
horus_status horus_world_takes(horus_world *world,
                               const char *node,
                               uint64_t nanoseconds,
                               uint64_t cycles);

// Has the next messages of a topic never come to the inputs of the program.
//
// # Safety
// `world` is a handle that no other call uses meanwhile, `topic` ends with a zero byte.
horus_status horus_world_lose(horus_world *world, const char *topic, uint64_t messages);

// The parameters of a program that runs, "nav", or of one of its nodes, "nav/drive"; null when there are none, or this user may not read them.
//
// # Safety
// `name` ends with a zero byte.
horus_params *horus_params_open(const char *name);

// Tells number `index` of them, from 0; HORUS_EMPTY behind the last one. Number 0 looks at all of them, at one moment, and the others are told of
// that moment.
//
// # Safety
// `params` is a handle that no other call uses meanwhile, `about` is null or may be written.
horus_status horus_params_list(horus_params *params,
                               size_t index,
                               horus_parameter *about);

// Tells the parameter of this name, by now. HORUS_FAILED where there is none.
//
// # Safety
// `params` is a handle that no other call uses meanwhile, `name` ends with a zero byte, `about` is null or may be written.
horus_status horus_params_get(horus_params *params,
                              const char *name,
                              horus_parameter *about);

// Sets `count` parameters, all of them or none. HORUS_FAILED when one of them may not have its value; `horus_error` says what it may be.
//
// # Safety
// `params` is a handle that no other call uses meanwhile, `count` assignments may be read at `values`, whose names end with a zero byte.
horus_status horus_params_set(horus_params *params,
                              const horus_assignment *values,
                              size_t count);

// Waits for a parameter to change, at most `timeout_ns`, or as long as that takes if it is negative; HORUS_EMPTY when none did. Tells one change
// a call: what the value was, to `before`, which may be null, and what it is. The first call begins to watch. HORUS_FAILED when the program
// has ended.
//
// # Safety
// `params` is a handle that no other call uses meanwhile, `before` and `now` are null or may be written.
horus_status horus_params_watch(horus_params *params,
                                int64_t timeout_ns,
                                horus_value *before,
                                horus_parameter *now);

// Has the program save the values of `count` parameters, so that it begins with them when it starts again; of those that were set, where `count`
// is 0.
//
// # Safety
// `params` is a handle that no other call uses meanwhile, `count` texts may be read at `names`, each ends with a zero byte.
horus_status horus_params_save(horus_params *params,
                               const char *const *names,
                               size_t count);

// Has the program set `count` parameters to what is saved, all of them or none; all that is saved, where `count` is 0.
//
// # Safety
// As `horus_params_save`.
horus_status horus_params_load(horus_params *params,
                               const char *const *names,
                               size_t count);

// Has the program drop what is saved of `count` parameters, or of all where `count` is 0. Their values stay until it ends.
//
// # Safety
// As `horus_params_save`.
horus_status horus_params_forget(horus_params *params,
                                 const char *const *names,
                                 size_t count);

// Ends them. Null is nothing to end.
//
// # Safety
// `params` is null or a handle that is not used any more.
horus_status horus_params_close(horus_params *params);

// Becomes a client of `service`, which may come before its server; null when it is refused: other types under the same name, more clients than the
// service has room for. The layouts say whether requests and answers are those of a struct or bytes. Of `options`, which may be null, directory,
// group and wait strategy count.
//
// # Safety
// `service` ends with a zero byte, `request` and `answer` are handles that are not closed meanwhile, `options` is null or may be read.
horus_client *horus_client_open(const char *service,
                                horus_layout *request,
                                horus_layout *answer,
                                const horus_options *options);

// The asking end of a service for the next node: it asks in one step, and looks for the answer in a later one. Null when it is refused; the program
// does not run then.
//
// # Safety
// `app` is a handle that no other call uses meanwhile; otherwise as `horus_client_open`.
horus_client *horus_app_client(horus_app *app,
                               const char *service,
                               horus_layout *request,
                               horus_layout *answer,
                               const horus_options *options);

// Asks, and does not wait: `call` is looked at later, by `horus_client_answer` or `horus_client_part`, or is given up. HORUS_CALL_TOO_MANY while 16
// calls are on their way, HORUS_CALL_FULL while the server has not taken the last 16 requests. Wait-free, no allocation, no system call unless the
// server went to sleep.
//
// # Safety
// `client` is a handle that no other call uses meanwhile, `bytes` bytes may be read at `request`, `call` may be written.
horus_status horus_client_ask(horus_client *client,
                              const void *request,
                              size_t bytes,
                              horus_call *call);

// The answer to a call, which is over then; HORUS_EMPTY as long as there is none. Of an answer of several messages it is the first one. A call that
// has no answer ends with the reason: HORUS_CALL_DIED, HORUS_CALL_STOPPED, HORUS_CALL_UNANSWERED. No system call, and no allocation for answers of
// up to 4 KiB: so it does not notice by itself that a server was killed, and `horus_client_check_server` does.
//
// # Safety
// `client` is a handle that no other call uses meanwhile, `bytes` bytes may be written at `answer`, `length` is null or may be written.
horus_status horus_client_answer(horus_client *client,
                                 horus_call call,
                                 void *answer,
                                 size_t bytes,
                                 size_t *length);

// The next message of an answer that has several; HORUS_EMPTY while none came, and HORUS_END behind the last one, with which the call is over. An
// answer that breaks off ends with the reason, behind the parts that came.
//
// # Safety
// As `horus_client_answer`.
horus_status horus_client_part(horus_client *client,
                               horus_call call,
                               void *part,
                               size_t bytes,
                               size_t *length);

// Gives a call up: what comes of its answer is dropped and counted. One that is over is nothing to give up.
//
// # Safety
// `client` is a handle that no other call uses meanwhile.
horus_status horus_client_give_up(horus_client *client,
                                  horus_call call);

// Asks, and waits for the answer at most `timeout_ns` nanoseconds, for ever if that is negative. Of an answer of several messages it is the first
// one. HORUS_CALL_NOT_SERVED at once where no living program serves it, HORUS_CALL_DIED within about 10 ms of the server's death, and
// HORUS_CALL_TIMED_OUT when the time is up.
//
// # Safety
// `client` is a handle that no other call uses meanwhile, `request_bytes` bytes may be read at `request`, `answer_bytes` bytes may be written at
// `answer`, `length` is null or may be written.
horus_status horus_client_call(horus_client *client,
                               const void *request,
                               size_t request_bytes,
                               void *answer,
                               size_t answer_bytes,
                               size_t *length,
                               int64_t timeout_ns);

// Waits for a message from the server, at most `timeout_ns` nanoseconds, for ever if that is negative; HORUS_EMPTY when the time is up. Which call it
// is for, looking says.
//
// # Safety
// `client` is a handle that no other call uses meanwhile.
horus_status horus_client_wait(horus_client *client,
                               int64_t timeout_ns);

// Asks the kernel whether the server lives, HORUS_OK or HORUS_EMPTY; if not, all calls on their way end with HORUS_CALL_DIED. Makes system calls: not
// for a real-time loop.
//
// # Safety
// `client` is a handle that no other call uses meanwhile.
horus_status horus_client_check_server(horus_client *client);

// Whether a living program serves it: HORUS_OK or HORUS_EMPTY. Makes system calls.
//
// # Safety
// `client` is a handle that no other call uses meanwhile.
horus_status horus_client_is_served(horus_client *client);

// Waits at most `timeout_ns` nanoseconds, for ever if that is negative, until a living program serves it; HORUS_EMPTY when the time is up.
//
// # Safety
// `client` is a handle that no other call uses meanwhile.
horus_status horus_client_wait_until_served(horus_client *client,
                                            int64_t timeout_ns);

// Messages for calls that were given up, so far; 0 of what is no client.
//
// # Safety
// `client` is null or a handle that no other call uses meanwhile.
uint64_t horus_client_late(horus_client *client);

// Calls that are unanswered; 0 of what is no client.
//
// # Safety
// `client` is null or a handle that no other call uses meanwhile.
size_t horus_client_unanswered(horus_client *client);

// Ends a client, and gives its calls up. Null is nothing to end. One of a node ends with its program.
//
// # Safety
// `client` is null or a handle that no other call uses meanwhile, and it is not used any more but by who keeps it.
horus_status horus_client_close(horus_client *client);

// Keeps a client beyond its end, until `horus_client_let_go`: using it is an error then. Each call counts. Any thread may call this.
//
// # Safety
// `client` is null or a handle that was not closed and whose program has not ended, or that is kept.
horus_status horus_client_keep(horus_client *client);

// Ends what `horus_client_keep` began. Null is nothing to end.
//
// # Safety
// As there; for this keeper it is not used any more.
horus_status horus_client_let_go(horus_client *client);

// Becomes the server of `service`; null when it is refused: another server lives, or the types are others. It gets the requests that are sent from
// then on. The layouts say whether requests and answers are those of a struct or bytes. Of `options`, which may be null, directory, group and wait
// strategy count, and `publishers` is how many clients it has room for: 8 if that is 0.
//
// # Safety
// `service` ends with a zero byte, `request` and `answer` are handles that are not closed meanwhile, `options` is null or may be read.
horus_server *horus_server_open(const char *service,
                                horus_layout *request,
                                horus_layout *answer,
                                const horus_options *options);

// The answering end of a service for the next node, whose requests are an input of it: `horus_node_on` with its name releases the node by them.
// Null when it is refused; the program does not run then.
//
// # Safety
// `app` is a handle that no other call uses meanwhile; otherwise as `horus_server_open`.
horus_server *horus_app_server(horus_app *app,
                               const char *service,
                               horus_layout *request,
                               horus_layout *answer,
                               const horus_options *options);

// Takes the next request to `request`, where there are `bytes` bytes: those of its struct, or room for the longest. Waits at most `timeout_ns`
// nanoseconds, for ever if that is negative; one of a node does not wait. HORUS_EMPTY when there is none. `length`, which may be null for a struct,
// is told how many bytes it has. `ticket` is what it is answered with. A request that is taken is to be answered, at once or later, or refused:
// its client waits for that until its limit.
//
// # Safety
// `server` is a handle that no other call uses meanwhile, `bytes` bytes may be written at `request`, `length` is null or may be written, and so may
// `ticket`.
horus_status horus_server_next(horus_server *server,
                               void *request,
                               size_t bytes,
                               size_t *length,
                               horus_ticket *ticket,
                               int64_t timeout_ns);

// Answers the request of a ticket, and is over. HORUS_FULL when its client does not look at the answers that it has: then this one is dropped and
// counted, and the client is told that there is no answer if it has room for that.
//
// # Safety
// `server` is a handle that no other call uses meanwhile, `ticket` may be read, and `bytes` bytes may be read at `answer`.
horus_status horus_server_answer(horus_server *server,
                                 const horus_ticket *ticket,
                                 const void *answer,
                                 size_t bytes);

// Sends a part of the answer, and more may follow: `horus_server_end` ends it, or `horus_server_answer` with the last part. HORUS_FULL when there is
// no room: it may be sent again later.
//
// # Safety
// As `horus_server_answer`.
horus_status horus_server_part(horus_server *server,
                               const horus_ticket *ticket,
                               const void *part,
                               size_t bytes);

// Says that all parts were sent.
//
// # Safety
// `server` is a handle that no other call uses meanwhile, and `ticket` may be read.
horus_status horus_server_end(horus_server *server, const horus_ticket *ticket);

// Says that the request gets no answer: its client has HORUS_CALL_UNANSWERED.
//
// # Safety
// As `horus_server_end`.
horus_status horus_server_refuse(horus_server *server, const horus_ticket *ticket);

// Messages that had no room, because their client did not look, or that could not be sent; 0 of what is no server.
//
// # Safety
// `server` is null or a handle that no other call uses meanwhile.
uint64_t horus_server_undelivered(horus_server *server);

// Stops serving: clients that wait are told. Null is nothing to end. One of a node ends with its program.
//
// # Safety
// `server` is null or a handle that no other call uses meanwhile, and it is not used any more but by who keeps it.
horus_status horus_server_close(horus_server *server);

// Keeps a server beyond its end, until `horus_server_let_go`: using it is an error then. Each call counts. Any thread may call this.
//
// # Safety
// `server` is null or a handle that was not closed and whose program has not ended, or that is kept.
horus_status horus_server_keep(horus_server *server);

// Ends what `horus_server_keep` began. Null is nothing to end.
//
// # Safety
// As there; for this keeper it is not used any more.
horus_status horus_server_let_go(horus_server *server);

// The sentence of this thread's last error, valid until its next one. It is empty when there was none.
const char *horus_error(void);

// Opens a topic for publishing, and makes it unless a living peer uses it; null when it is refused. `layout` says whether its messages are those
// of a struct or bytes of any length. `options` may be null.
//
// # Safety
// `topic` ends with a zero byte, `layout` is a handle that is not closed meanwhile, `options` is null or may be read.
horus_publisher *horus_publisher_open(const char *topic,
                                      horus_layout *layout,
                                      const horus_options *options);

// Sends a message of `bytes` bytes; HORUS_FULL when there is no room. Wait-free, no allocation. A message of a struct has the bytes of its
// layout. One of bytes has up to the maximum, and may be null where it has none.
//
// # Safety
// `publisher` is a handle that no other call uses meanwhile, and `bytes` bytes may be read at `message`.
horus_status horus_publisher_try_send(horus_publisher *publisher,
                                      const void *message,
                                      size_t bytes);

// Sends a message; waits for room on a reliable topic at most `timeout_ns` nanoseconds, for ever if that is negative. On a latest topic
// no subscriber is waited for without a limit.
//
// # Safety
// As `horus_publisher_try_send`.
horus_status horus_publisher_send(horus_publisher *publisher,
                                  const void *message,
                                  size_t bytes,
                                  int64_t timeout_ns);

// Lends the place of the next message, of `bytes` bytes, in shared memory at `*place`, to be filled and published; HORUS_FULL when there is no
// room. What stands there is of some older message, or zeros.
//
// # Safety
// `publisher` is a handle that no other call uses meanwhile; `place` may be written.
horus_status horus_publisher_loan(horus_publisher *publisher,
                                  size_t bytes,
                                  void **place);

// Sends the message whose place was lent, of `bytes` bytes: of a layout's message all of them, and of bytes the first ones.
//
// # Safety
// `publisher` is a handle that no other call uses meanwhile. The place is not written any more.
horus_status horus_publisher_publish(horus_publisher *publisher,
                                     size_t bytes);

// Gives a lent place back without sending anything.
//
// # Safety
// As `horus_publisher_publish`.
horus_status horus_publisher_discard(horus_publisher *publisher);

// How many living subscribers the topic has; 0 when that cannot be known, and `horus_error` says why. Makes system calls.
//
// # Safety
// `publisher` is null or a handle that no other call uses meanwhile.
size_t horus_publisher_subscribers(horus_publisher *publisher);

// Takes dead subscribers off the topic, so that they hold it no longer; returns how many. For callers of `horus_publisher_try_send`,
// outside of their real-time loop: it makes system calls.
//
// # Safety
// As `horus_publisher_subscribers`.
size_t horus_publisher_reap(horus_publisher *publisher);

// Whether what is sent here can reach who joins from now on: not when the topic's file was removed, nor after `fork` in the child.
//
// # Safety
// As `horus_publisher_subscribers`.
horus_status horus_publisher_check(horus_publisher *publisher);

// Ends a publisher. Null is nothing to end.
//
// # Safety
// `publisher` is null or a handle that no other call uses meanwhile, and it is not used any more.
horus_status horus_publisher_close(horus_publisher *publisher);

// Tells how the topic is made that this end is of.
//
// # Safety
// `publisher` is a handle that no other call uses meanwhile; `shape` may be written.
horus_status horus_publisher_shape(horus_publisher *publisher, horus_shape *shape);

// As `horus_publisher_shape`.
//
// # Safety
// As there.
horus_status horus_subscriber_shape(horus_subscriber *subscriber, horus_shape *shape);

// Joins a topic; it may come before its publisher. Null when it is refused. `layout` says whether its messages are those of a struct or bytes of
// any length, up to the maximum of its publishers. `options` may be null.
//
// # Safety
// `topic` ends with a zero byte, `layout` is a handle that is not closed meanwhile, `options` is null or may be read.
horus_subscriber *horus_subscriber_open(const char *topic,
                                        horus_layout *layout,
                                        const horus_options *options);

// Receives the next message; HORUS_EMPTY when none was sent yet. Wait-free, no allocation. A message of a struct has `bytes` bytes, and `about`
// may be null. For one of bytes there are `bytes` bytes of room, as many as the longest message has, and `about` tells how many came.
//
// After HORUS_EMPTY `message` holds what it held, or bytes that no publisher sent: a publisher may have overwritten them while
// they were read. Use a struct of its own for what is to be kept.
//
// # Safety
// `subscriber` is a handle that no other call uses meanwhile, `bytes` bytes may be written at `message`, `about` is null or may be written.
horus_status horus_subscriber_try_recv(horus_subscriber *subscriber,
                                       void *message,
                                       size_t bytes,
                                       horus_received *about);

// Waits at most `timeout_ns` nanoseconds for the next message; for ever if that is negative.
//
// # Safety
// As `horus_subscriber_try_recv`.
horus_status horus_subscriber_recv(horus_subscriber *subscriber,
                                   void *message,
                                   size_t bytes,
                                   horus_received *about,
                                   int64_t timeout_ns);

// Lends the next message where it is in shared memory at `*message`, until `horus_subscriber_release`; HORUS_EMPTY when none was sent yet. `about`
// tells how many bytes it has, and may be null unless the messages are bytes.
//
// # Safety
// `subscriber` is a handle that no other call uses meanwhile; `message` may be written, `about` is null or may be written.
horus_status horus_subscriber_borrow(horus_subscriber *subscriber,
                                     const void **message,
                                     horus_received *about);

// Gives a lent message back.
//
// # Safety
// `subscriber` is a handle that no other call uses meanwhile. The message is not read any more.
horus_status horus_subscriber_release(horus_subscriber *subscriber);

// How many messages were overwritten before this subscriber got to them; 0 of what is no subscriber.
//
// # Safety
// `subscriber` is null or a handle that no other call uses meanwhile.
uint64_t horus_subscriber_missed(horus_subscriber *subscriber);

// Whether a living process publishes the topic: HORUS_OK or HORUS_EMPTY. Makes system calls.
//
// # Safety
// As `horus_subscriber_missed`.
horus_status horus_subscriber_is_published(horus_subscriber *subscriber);

// Waits at most `timeout_ns` nanoseconds, for ever if that is negative, until a living process publishes the topic; HORUS_EMPTY when the time is
// up. Looks once a millisecond.
//
// # Safety
// As `horus_subscriber_missed`.
horus_status horus_subscriber_wait_until_published(horus_subscriber *subscriber,
                                                   int64_t timeout_ns);

// Whether messages can come from who publishes the topic from now on: not when its file was removed, nor after `fork` in the child.
//
// # Safety
// As `horus_subscriber_missed`.
horus_status horus_subscriber_check(horus_subscriber *subscriber);

// Ends a subscriber. Null is nothing to end.
//
// # Safety
// `subscriber` is null or a handle that no other call uses meanwhile, and it is not used any more.
horus_status horus_subscriber_close(horus_subscriber *subscriber);

// Waits until one of `count` subscribers, of messages or of bytes, has something to receive; its place in the array is then at `*ready`.
// HORUS_EMPTY when `timeout_ns` nanoseconds have passed; it waits for ever if that is negative. While an earlier one has messages, later ones
// are not looked at.
//
// # Safety
// `count` handles may be read at `subscribers`, which no other call uses meanwhile; `ready` may be written.
horus_status horus_wait_any(horus_subscriber *const *subscribers,
                            size_t count,
                            int64_t timeout_ns,
                            size_t *ready);

// Becomes the one that sends the frame `child` in `parent`; null when it is refused: another program sends it, or the tree would have a loop.
// Of `options`, which may be null, directory and group count.
//
// # Safety
// Both names end with a zero byte, `options` is null or may be read.
horus_broadcaster *horus_broadcaster_open(const char *parent,
                                          const char *child,
                                          const horus_options *options);

// Sends where the frame was at `time_ns`, in nanoseconds on CLOCK_MONOTONIC, which is after that of the transform before. Makes no system call.
//
// # Safety
// `broadcaster` is a handle that no other call uses meanwhile, `transform` is null or may be read.
horus_status horus_broadcaster_send(horus_broadcaster *broadcaster,
                                    uint64_t time_ns,
                                    const horus_transform *transform);

// Withdraws the frame, and ends the broadcaster. Null is none.
//
// # Safety
// `broadcaster` is null or a handle that is not used any more.
horus_status horus_broadcaster_close(horus_broadcaster *broadcaster);

// Opens what sends static frames; null when it is refused. Of `options`, which may be null, directory and group count.
//
// # Safety
// `options` is null or may be read.
horus_static_broadcaster *horus_static_broadcaster_open(const horus_options *given);

// Adds the frame `child` in `parent`. When it is refused, the frames are as before.
//
// # Safety
// `broadcaster` is a handle that no other call uses meanwhile, both names end with a zero byte, `transform` is null or may be read.
horus_status horus_static_broadcaster_add(horus_static_broadcaster *broadcaster,
                                          const char *parent,
                                          const char *child,
                                          const horus_transform *transform);

// Adds the fixed joints of a URDF file, all of them or none.
//
// # Safety
// `broadcaster` is a handle that no other call uses meanwhile, `path` ends with a zero byte.
horus_status horus_static_broadcaster_add_urdf(horus_static_broadcaster *broadcaster,
                                               const char *path);

// Withdraws the frames, and ends what sends them. Null is none.
//
// # Safety
// `broadcaster` is null or a handle that is not used any more.
horus_status horus_static_broadcaster_close(horus_static_broadcaster *broadcaster);

// Opens all frames of a namespace; null when it is refused. Of `options`, which may be null, directory and group count.
//
// # Safety
// `options` is null or may be read.
horus_frames *horus_frames_open(const horus_options *given);

// The frame `source` in the frame `target` at `time_ns`, in nanoseconds on CLOCK_MONOTONIC. HORUS_FAILED when it is not known there and then:
// `horus_error` says which frame is in the way, and by how much the time is outside of what is held. Makes no system call.
//
// # Safety
// `frames` is a handle that no other call uses meanwhile, both names end with a zero byte, `found` is null or may be written.
horus_status horus_frames_at(horus_frames *frames,
                             const char *target,
                             const char *source,
                             uint64_t time_ns,
                             horus_transform *found);

// As horus_frames_at, at the latest time for which every frame between the two is known. That time goes to `time_ns`, which may be null: 0 where
// all of them are static.
//
// # Safety
// As there, and `time_ns` is null or may be written.
horus_status horus_frames_newest(horus_frames *frames,
                                 const char *target,
                                 const char *source,
                                 uint64_t *time_ns,
                                 horus_transform *found);

// As horus_frames_at, but waits until the transform is known: at most `timeout_ns`, or as long as that takes if it is negative. Not for a step
// of a node.
//
// # Safety
// As there.
horus_status horus_frames_wait(horus_frames *frames,
                               const char *target,
                               const char *source,
                               uint64_t time_ns,
                               int64_t timeout_ns,
                               horus_transform *found);

// Ends them. Null is nothing to end.
//
// # Safety
// `frames` is null or a handle that is not used any more.
horus_status horus_frames_close(horus_frames *frames);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HORUS_H */

#ifndef HORUS_H
#define HORUS_H

/* Made of runtime/bindings/c by its test `header`: change that. */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// The version of this interface. A program that was built for another first number does not work with this library.
#define HORUS_ABI_VERSION 1

// What a topic does when a subscriber is slow.
#define HORUS_ANY_POLICY 0

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

// What a call came to. Where it is negative, `horus_error` has a sentence that says why and what to do.
typedef enum {
  // It was done.
  HORUS_OK = 0,
  // There is no message, or none came in time. No error.
  HORUS_EMPTY = 1,
  // There is no room, or none came in time. No error.
  HORUS_FULL = 2,
  // The arguments make no sense: null, a closed handle, a wrong size.
  HORUS_MISUSE = -1,
  // The system or another program is in the way.
  HORUS_FAILED = -2,
  // A defect of HORUS: a panic that was caught.
  HORUS_PANICKED = -3,
} horus_status;

// The layout of a message.
typedef struct horus_layout horus_layout;

// The publishing end of a topic. One thread at a time uses it.
typedef struct horus_publisher horus_publisher;

// A subscribing end of a topic. One thread at a time uses it.
typedef struct horus_subscriber horus_subscriber;

// How a topic is made and joined. All zero is what suits most: `horus_options options = {0};`.
typedef struct {
  // HORUS_LATEST, HORUS_RELIABLE, or HORUS_ANY_POLICY: a subscriber's as the topic is, a publisher's `latest`.
  uint32_t policy;
  // Messages that a publisher's lane holds, a power of two from 1 to 2^20; 0 for 16.
  uint32_t capacity;
  // Publishers at a time, 1 to 64; 0 for 1.
  uint32_t publishers;
  // Of a subscriber: messages sent before it joined that it wants of each publisher.
  uint32_t history;
  // HORUS_WAIT_DEFAULT, HORUS_WAIT_SPIN or HORUS_WAIT_SLEEP.
  uint32_t waiting;
  // Of a publisher: 1 to stamp each message with the time of sending.
  uint32_t stamped;
  // The folder of the topic's file; null for $HORUS_SHM_DIR or /dev/shm/horus.
  const char *directory;
  // The group whose members may use the topic; null for nobody else.
  const char *group;
} horus_options;

// What is known of a message beside its bytes.
typedef struct {
  // Its number among its publisher's.
  uint64_t sequence;
  // When it was sent, in nanoseconds on CLOCK_MONOTONIC; 0 when its publisher stamps none.
  uint64_t sent_ns;
  // Number of the publisher that sent it.
  uint64_t publisher;
} horus_received;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The interface's version of the library that runs: compare it with `HORUS_ABI_VERSION`.
uint32_t horus_abi_version(void);

// A layout from its text: `message package/Name`, then `field type` on a line each, with the types of `docs/layout-hash.md`. Null when the
// text describes none.
//
// # Safety
// `description` ends with a zero byte.
horus_layout *horus_layout_parse(const char *description);

// The hash that two programs compare; 0 of what is no layout.
//
// # Safety
// `layout` is null or a handle that nobody else uses meanwhile.
uint64_t horus_layout_hash(horus_layout *layout);

// Bytes of a message; 0 of what is no layout.
//
// # Safety
// As `horus_layout_hash`.
size_t horus_layout_bytes(horus_layout *layout);

// Ends a layout; topics that were opened with it need it no longer. Null is nothing to end.
//
// # Safety
// As `horus_layout_hash`; it is not used any more.
horus_status horus_layout_close(horus_layout *layout);

// Opens a topic for publishing, and makes it unless somebody living uses it; null when it is refused. `options` may be null.
//
// # Safety
// `topic` ends with a zero byte, `layout` is a handle that nobody else uses meanwhile, `options` is null or may be read.
horus_publisher *horus_publisher_open(const char *topic,
                                      horus_layout *layout,
                                      const horus_options *options);

// Sends a message of `bytes` bytes; HORUS_FULL when there is no room. Wait-free, no allocation.
//
// # Safety
// `publisher` is a handle that nobody else uses meanwhile, and `bytes` bytes may be read at `message`.
horus_status horus_publisher_try_send(horus_publisher *publisher,
                                      const void *message,
                                      size_t bytes);

// Sends a message; waits for room on a reliable topic at most `timeout_ns` nanoseconds, for ever if that is negative.
//
// # Safety
// As `horus_publisher_try_send`.
horus_status horus_publisher_send(horus_publisher *publisher,
                                  const void *message,
                                  size_t bytes,
                                  int64_t timeout_ns);

// Lends the place of the next message in shared memory at `*place`, to be filled and published. What stands there is some older
// message, or zeros.
//
// # Safety
// `publisher` is a handle that nobody else uses meanwhile; `place` may be written.
horus_status horus_publisher_loan(horus_publisher *publisher,
                                  void **place);

// Sends the message whose place was lent.
//
// # Safety
// `publisher` is a handle that nobody else uses meanwhile. The place is not written any more.
horus_status horus_publisher_publish(horus_publisher *publisher);

// Gives a lent place back without sending anything.
//
// # Safety
// As `horus_publisher_publish`.
horus_status horus_publisher_discard(horus_publisher *publisher);

// Ends a publisher. Null is nothing to end.
//
// # Safety
// `publisher` is null or a handle that nobody else uses meanwhile, and it is not used any more.
horus_status horus_publisher_close(horus_publisher *publisher);

// The sentence of this thread's last error, valid until its next one. It is empty when there was none.
const char *horus_error(void);

// Joins a topic; it may come before its publisher. Null when it is refused. `options` may be null.
//
// # Safety
// `topic` ends with a zero byte, `layout` is a handle that nobody else uses meanwhile, `options` is null or may be read.
horus_subscriber *horus_subscriber_open(const char *topic,
                                        horus_layout *layout,
                                        const horus_options *options);

// Receives the next message of `bytes` bytes; HORUS_EMPTY when none was sent yet. `about` may be null. Wait-free, no allocation.
//
// # Safety
// `subscriber` is a handle that nobody else uses meanwhile, `bytes` bytes may be written at `message`, `about` is null or may be written.
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

// Lends the next message where it is in shared memory at `*message`, until `horus_subscriber_release`; HORUS_EMPTY when none was sent yet.
//
// # Safety
// `subscriber` is a handle that nobody else uses meanwhile; `message` may be written, `about` is null or may be written.
horus_status horus_subscriber_borrow(horus_subscriber *subscriber,
                                     const void **message,
                                     horus_received *about);

// Gives a lent message back.
//
// # Safety
// `subscriber` is a handle that nobody else uses meanwhile. The message is not read any more.
horus_status horus_subscriber_release(horus_subscriber *subscriber);

// How many messages were overwritten before this subscriber got to them; 0 of what is no subscriber.
//
// # Safety
// `subscriber` is null or a handle that nobody else uses meanwhile.
uint64_t horus_subscriber_missed(horus_subscriber *subscriber);

// Ends a subscriber. Null is nothing to end.
//
// # Safety
// `subscriber` is null or a handle that nobody else uses meanwhile, and it is not used any more.
horus_status horus_subscriber_close(horus_subscriber *subscriber);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HORUS_H */

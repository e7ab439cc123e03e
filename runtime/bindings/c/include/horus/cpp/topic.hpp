// The ends of a topic: by copy, and in place by what is lent and moves.
#ifndef HORUS_CPP_TOPIC_HPP
#define HORUS_CPP_TOPIC_HPP

#include <chrono>

#include "lender.hpp"
#include "message.hpp"

namespace horus {
inline namespace HORUS_MODE {

// How a topic is made and joined; as horus_options, by name: Options::latest(8).stamped().
class Options {
 public:
  // Room for so many messages of each publisher; the oldest one is overwritten, and each loss is counted.
  static Options latest(std::uint32_t capacity) { return Options(HORUS_LATEST, capacity); }
  // Room for so many messages of each publisher; a full topic refuses more, or has its publishers wait. Nothing is overwritten.
  static Options reliable(std::uint32_t capacity) { return Options(HORUS_RELIABLE, capacity); }
  // What suits most: a subscriber takes the topic as it is, and a publisher makes it `latest` with room for 16 messages.
  Options() = default;

  // Room for so many publishers at a time, 1 to 64; 1 if not said otherwise.
  Options &publishers(std::uint32_t count) { return raw_.publishers = count, *this; }
  // Of a subscriber: first up to so many messages of each publisher that were sent before it joined.
  Options &history(std::uint32_t messages) { return raw_.history = messages, *this; }
  // Of a publisher: each message tells when it was sent, in ns on CLOCK_MONOTONIC. Outputs of nodes always do.
  Options &stamped() { return raw_.stamped = 1, *this; }
  // Waits busily: the fastest, on a CPU of one's own.
  Options &spin() { return raw_.wait_strategy = HORUS_WAIT_SPIN, *this; }
  // Sleeps at once.
  Options &sleep() { return raw_.wait_strategy = HORUS_WAIT_SLEEP, *this; }
  // Looks once in so long a time, and sleeps meanwhile.
  Options &poll(std::chrono::nanoseconds every) { return waits(HORUS_WAIT_POLL, every); }
  // Busily for so long, and then asleep.
  Options &spin_then_sleep(std::chrono::nanoseconds spin) { return waits(HORUS_WAIT_SPIN_THEN_SLEEP, spin); }
  // Publishers wake no subscriber: sending never makes a system call.
  Options &never_wake() { return raw_.never_wake = 1, *this; }
  // Another folder of topics than $HORUS_SHM_DIR or /dev/shm/horus.
  Options &directory(std::string path) { return directory_ = std::move(path), *this; }
  // The group of users, by name or number, whose members may use the topic beside its owner.
  Options &group(std::string name) { return group_ = std::move(name), *this; }

  // As C takes them; for as long as this object is there.
  horus_options raw() const {
    horus_options raw = raw_;
    raw.directory = directory_.empty() ? nullptr : directory_.c_str();
    raw.group = group_.empty() ? nullptr : group_.c_str();
    return raw;
  }

 private:
  Options(std::uint32_t policy, std::uint32_t capacity) {
    raw_.delivery_policy = policy;
    raw_.capacity = capacity;
  }
  Options &waits(std::uint32_t how, std::chrono::nanoseconds span) {
    raw_.wait_strategy = how;
    raw_.wait_strategy_ns = span.count() < 0 ? 0 : static_cast<std::uint64_t>(span.count());
    return *this;
  }
  horus_options raw_ = HORUS_OPTIONS;
  std::string directory_, group_;
};

// What is known of a message beside its bytes: its number, when it was sent, and by which publisher.
using Received = horus_received;
// How a topic is made that was joined as it is.
using Shape = horus_shape;

// As long as it takes.
inline constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

namespace detail {
// A span of time as C takes it: a time that is over already is none.
constexpr std::uint64_t span_ns(std::chrono::nanoseconds span) noexcept {
  return span.count() < 0 ? 0 : static_cast<std::uint64_t>(span.count());
}
// A limit as C takes it, for which less than 0 is for ever. What is left of a time that is over is no time.
constexpr std::int64_t limit_ns(std::chrono::nanoseconds limit) noexcept {
  return limit == forever ? -1 : static_cast<std::int64_t>(span_ns(limit));
}

// Waits for one subscriber, of any kind.
inline Outcome waited(void *subscriber, std::chrono::nanoseconds limit) {
  std::size_t ready = 0;
  return checked(horus_wait_any(&subscriber, 1, limit_ns(limit), &ready));
}

template <class Handle>
Shape shape_of(horus_status (*ask)(Handle *, horus_shape *), Handle *handle) {
  Shape shape = {};
  (void)checked(ask(handle, &shape));
  return shape;
}

using PublisherHandle = Lender<horus_publisher, horus_publisher_close, horus_publisher_discard>;
using SubscriberHandle = Lender<horus_subscriber, horus_subscriber_close, horus_subscriber_release>;

// Opens an end of a topic by `open`, which gives a handle of C or null.
template <class End, class Handle, class Open>
Result<End> opened(Open open) {
  if (const char *why = misfit()) return Result<End>::refused(why);
  Handle handle(open());
  if (!handle.get()) return Result<End>::refused(horus_error());
  return Result<End>(End(std::move(handle)));
}
}  // namespace detail

// A message that is being written where it will be sent from. What is not published was never sent. It may outlive its publisher.
template <class T>
class [[nodiscard]] Loan {
 public:
  Loan(detail::PublisherHandle::Lent lent, T *place) noexcept : lent_(std::move(lent)), place_(place) {}
  Loan(Loan &&other) noexcept : lent_(std::move(other.lent_)), place_(std::exchange(other.place_, nullptr)) {}
  Loan &operator=(Loan &&) = delete;
  // The message in its place. There is none where the loan is empty.
  T &operator*() const noexcept { return *place_; }
  // As operator*.
  T *operator->() const noexcept { return place_; }
  // Whether there is a place: false when there was no room, and after it was published or moved.
  explicit operator bool() const noexcept { return place_ != nullptr; }
  // Sends it. An empty loan is an error.
  void publish() {
    place_ = nullptr;
    lent_.end([](horus_publisher *publisher) { return horus_publisher_publish(publisher); });
  }

 private:
  detail::PublisherHandle::Lent lent_;
  T *place_;
};

// The publishing end of a topic. One thread at a time uses it.
template <class T>
class Publisher {
 public:
  // Opens the topic, and makes it when it is missing. Refused with a reason, as where others mean other fields by it.
  static Result<Publisher> open(const std::string &topic, const Options &options = {}) {
    const detail::MadeLayout &made = detail::made_layout<T>();
    if (!made.handle.get()) return Result<Publisher>::refused(made.why);
    return detail::opened<Publisher, detail::PublisherHandle>([&] {
      const horus_options raw = options.raw();
      return horus_publisher_open(topic.c_str(), made.handle.get(), &raw);
    });
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  explicit Publisher(const std::string &topic, const Options &options = {}) : Publisher(open(topic, options).take()) {}
#endif
  explicit Publisher(detail::PublisherHandle handle) noexcept : handle_(std::move(handle)) {}

  // Sends a message; false when there is no room. Wait-free.
  Outcome try_send(const T &message) { return detail::checked(horus_publisher_try_send(handle_.get(), &message, sizeof(T))); }
  // Waits for room on a reliable topic.
  Outcome send(const T &message, std::chrono::nanoseconds limit = forever) {
    return detail::checked(horus_publisher_send(handle_.get(), &message, sizeof(T), detail::limit_ns(limit)));
  }
  // Lends the place of the next message; an empty loan when there is no room.
  Loan<T> loan() {
    void *place = nullptr;
    auto lent = handle_.lend([&](horus_publisher *publisher) { return horus_publisher_loan(publisher, &place); });
    return Loan<T>(std::move(lent), static_cast<T *>(place));
  }
  // How many subscribers there are now; it looks after those that died, and so makes system calls.
  std::size_t subscribers() { return horus_publisher_subscribers(handle_.get()); }
  // Takes back what subscribers that died held; gives how many there were. It makes system calls.
  std::size_t reap() { return horus_publisher_reap(handle_.get()); }
  // An error in a process that was forked after the opening: it may not use this.
  Outcome check() { return detail::checked(horus_publisher_check(handle_.get())); }
  // How the topic is made: its policy, its room and its publishers.
  Shape shape() { return detail::shape_of(horus_publisher_shape, handle_.get()); }

 private:
  detail::PublisherHandle handle_;
};

// A message where it lies in the topic; it is given back at the end of its life. It may outlive its subscriber.
template <class T>
class [[nodiscard]] Sample {
 public:
  Sample(detail::SubscriberHandle::Lent lent, const T *message, const Received &about) noexcept
      : lent_(std::move(lent)), message_(message), about_(about) {}
  Sample(Sample &&other) noexcept
      : lent_(std::move(other.lent_)), message_(std::exchange(other.message_, nullptr)), about_(other.about_) {}
  Sample &operator=(Sample &&) = delete;
  // The message in its place. There is none where the sample is empty.
  const T &operator*() const noexcept { return *message_; }
  // As operator*.
  const T *operator->() const noexcept { return message_; }
  // Whether there is a message.
  explicit operator bool() const noexcept { return message_ != nullptr; }
  // What is known of the message beside its bytes.
  const Received &about() const noexcept { return about_; }

 private:
  detail::SubscriberHandle::Lent lent_;
  const T *message_;
  Received about_;
};

// A subscribing end of a topic. One thread at a time uses it.
template <class T>
class Subscriber {
 public:
  // Joins the topic, which need not be there yet. Refused with a reason, as where others mean other fields by it.
  static Result<Subscriber> open(const std::string &topic, const Options &options = {}) {
    const detail::MadeLayout &made = detail::made_layout<T>();
    if (!made.handle.get()) return Result<Subscriber>::refused(made.why);
    return detail::opened<Subscriber, detail::SubscriberHandle>([&] {
      const horus_options raw = options.raw();
      return horus_subscriber_open(topic.c_str(), made.handle.get(), &raw);
    });
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  explicit Subscriber(const std::string &topic, const Options &options = {}) : Subscriber(open(topic, options).take()) {}
#endif
  explicit Subscriber(detail::SubscriberHandle handle) noexcept : handle_(std::move(handle)) {}

  // Receives the next message; false when there is none: then `into` holds what it held, or bytes that no publisher sent.
  // Wait-free.
  Outcome try_recv(T &into, Received *about = nullptr) {
    return detail::checked(horus_subscriber_try_recv(handle_.get(), &into, sizeof(T), about));
  }
  // Waits for the next message.
  Outcome recv(T &into, std::chrono::nanoseconds limit = forever, Received *about = nullptr) {
    return detail::checked(horus_subscriber_recv(handle_.get(), &into, sizeof(T), about, detail::limit_ns(limit)));
  }
  // The next message in its place; an empty sample when there is none.
  Sample<T> borrow() {
    const void *message = nullptr;
    Received about = {};
    auto lent = handle_.lend([&](horus_subscriber *subscriber) { return horus_subscriber_borrow(subscriber, &message, &about); });
    return Sample<T>(std::move(lent), static_cast<const T *>(message), about);
  }
  // How many messages were overwritten before they were received, since it joined.
  std::uint64_t missed() { return horus_subscriber_missed(handle_.get()); }
  // Waits until there is something to receive or to borrow.
  Outcome wait(std::chrono::nanoseconds limit = forever) { return detail::waited(handle_.get(), limit); }
  // Whether a publisher has the topic now. It makes system calls.
  bool is_published() { return horus_subscriber_is_published(handle_.get()) == HORUS_OK; }
  // Waits until a publisher has the topic; false when the time is up.
  Outcome wait_until_published(std::chrono::nanoseconds limit = forever) {
    return detail::checked(horus_subscriber_wait_until_published(handle_.get(), detail::limit_ns(limit)));
  }
  // An error in a process that was forked after the opening: it may not use this.
  Outcome check() { return detail::checked(horus_subscriber_check(handle_.get())); }
  // How the topic is made: its policy, its room and its publishers.
  Shape shape() { return detail::shape_of(horus_subscriber_shape, handle_.get()); }
  // The handle of C, for horus_wait_any. It ends with this object.
  void *handle() const noexcept { return handle_.get(); }

 private:
  detail::SubscriberHandle handle_;
};

}  // namespace HORUS_MODE
}  // namespace horus

#endif

// The ends of a topic, for messages and for bytes: by copy, and in place by what is lent and moves.
#ifndef HORUS_CPP_TOPIC_HPP
#define HORUS_CPP_TOPIC_HPP

#include <chrono>

#include "lender.hpp"
#include "payload.hpp"

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

  // Room for so many publishers at a time, 1 to 63; 1 if not said otherwise.
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
  // Who comes late gets the newest message of every publisher, living or gone: of a publisher, the topic stays when all its users are gone.
  Options &latched() { return raw_.latched = 1, *this; }
  // Of a server: room for so many clients at a time, 8 to 63; 8 if not said otherwise.
  Options &clients(std::uint32_t count) { return publishers(count); }
  // Of a service: up to 8 servers serve it, and each request goes to one of them. All of its servers and clients say so, or none.
  Options &shared() { return raw_.shared = 1, *this; }
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

// What is known of a message: its number, when it was sent, by which publisher, and how many bytes it has.
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

// Waits for one subscriber.
inline Outcome waited(horus_subscriber *subscriber, std::chrono::nanoseconds limit) {
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

// Opens an end of a topic by a function of C.
template <class End, class Handle, class Open>
Result<End> opened(Open opens, const std::string &topic, horus_layout *layout, const Options &options) {
  const horus_options raw = options.raw();
  Handle handle(opens(topic.c_str(), layout, &raw));
  if (!handle.get()) return Result<End>::refused(horus_error());
  return Result<End>(End(std::move(handle)));
}
template <class End, class Handle, class T, class Open>
Result<End> opened_for_messages(Open opens, const std::string &topic, const Options &options) {
  static_assert(!is_bytes<T>, "a topic of bytes is opened with the most that a message may have: {topic, maximum}");
  const MadeLayout &made = made_layout<T>();
  if (!made.handle.get()) return Result<End>::refused(made.why);
  return opened<End, Handle>(opens, topic, made.handle.get(), options);
}
template <class End, class Handle, class Open>
Result<End> opened_for_bytes(Open opens, const std::string &topic, std::size_t maximum, const Options &options) {
  if (const char *why = misfit()) return Result<End>::refused(why);
  return opened<End, Handle>(opens, topic, layout_of_bytes(maximum).get(), options);
}
}  // namespace detail

// A message, or bytes, being written where they will be sent from. What is not published was never sent. It may outlive its publisher.
template <class T>
class [[nodiscard]] Loan {
  using Place = detail::InPlace<T>;

 public:
  Loan(detail::PublisherHandle::Lent lent, Place place) noexcept : lent_(std::move(lent)), place_(lent_ ? place : Place()) {}
  Loan(Loan &&other) noexcept : lent_(std::move(other.lent_)), place_(std::exchange(other.place_, {})) {}
  Loan &operator=(Loan &&) = delete;
  // The message in its place, or a BytesPlace. There is none where the loan is empty.
  auto &operator*() const noexcept { return place_.value(); }
  // As operator*.
  auto *operator->() const noexcept { return &place_.value(); }
  // Whether there is a place: false when there was no room, and after it was published or moved.
  explicit operator bool() const noexcept { return bool(lent_); }
  // Sends it. An empty loan is an error.
  void publish() { send(place_.bytes()); }
  // Of bytes only the first ones; no more than there are.
  void publish(std::size_t bytes) {
    static_assert(detail::is_bytes<T>, "a struct is sent as a whole: publish()");
    send(bytes < place_.bytes() ? bytes : place_.bytes());
  }

 private:
  void send(std::size_t bytes) {
    place_ = {};
    lent_.end([bytes](horus_publisher *publisher) { return horus_publisher_publish(publisher, bytes); });
  }
  detail::PublisherHandle::Lent lent_;
  Place place_;
};

// The publishing end of a topic of messages T, or of Bytes. One thread at a time uses it.
template <class T>
class Publisher {
 public:
  // Opens the topic, and makes it when it is missing. Refused with a reason, as where others mean other fields by it.
  static Result<Publisher> open(const std::string &topic, const Options &options = {}) {
    return detail::opened_for_messages<Publisher, detail::PublisherHandle, T>(horus_publisher_open, topic, options);
  }
  // Of Bytes: for messages of up to `maximum` bytes.
  template <class U = T, class = std::enable_if_t<detail::is_bytes<U>>>
  static Result<Publisher> open(const std::string &topic, std::size_t maximum, const Options &options = {}) {
    return detail::opened_for_bytes<Publisher, detail::PublisherHandle>(horus_publisher_open, topic, maximum, options);
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  explicit Publisher(const std::string &topic, const Options &options = {}) : Publisher(open(topic, options).take()) {}
  // As `open` of Bytes.
  template <class U = T, class = std::enable_if_t<detail::is_bytes<U>>>
  Publisher(const std::string &topic, std::size_t maximum, const Options &options = {}) : Publisher(open(topic, maximum, options).take()) {}
#endif
  explicit Publisher(detail::PublisherHandle handle) noexcept : handle_(std::move(handle)) {}

  // Sends a message; false when there is no room. Wait-free. More bytes than the topic's maximum are an error.
  Outcome try_send(const T &message) {
    const Bytes sent = detail::as_sent(message);
    return detail::checked(horus_publisher_try_send(handle_.get(), sent.data, sent.size));
  }
  // Waits for room on a reliable topic; false when the time is up.
  Outcome send(const T &message, std::chrono::nanoseconds limit = forever) {
    const Bytes sent = detail::as_sent(message);
    return detail::checked(horus_publisher_send(handle_.get(), sent.data, sent.size, detail::limit_ns(limit)));
  }
  // Lends the place of the next message; an empty loan when there is no room.
  Loan<T> loan() {
    static_assert(!detail::is_bytes<T>, "say how many bytes: loan(bytes)");
    return lend(sizeof(T));
  }
  // Of Bytes: for so many.
  Loan<T> loan(std::size_t bytes) {
    static_assert(detail::is_bytes<T>, "a struct has its size: loan()");
    return lend(bytes);
  }
  // How many subscribers there are now; it looks after those that died, and so makes system calls.
  std::size_t subscribers() { return horus_publisher_subscribers(handle_.get()); }
  // Takes back what subscribers that died held; gives how many there were. It makes system calls.
  std::size_t reap() { return horus_publisher_reap(handle_.get()); }
  // An error in a process that was forked after the opening: it may not use this.
  Outcome check() { return detail::checked(horus_publisher_check(handle_.get())); }
  // How the topic is made: its delivery policy, its room, and the most bytes of a message.
  Shape shape() { return detail::shape_of(horus_publisher_shape, handle_.get()); }

 private:
  Loan<T> lend(std::size_t bytes) {
    void *place = nullptr;
    auto lent = handle_.lend([&](horus_publisher *publisher) { return horus_publisher_loan(publisher, bytes, &place); });
    return Loan<T>(std::move(lent), detail::InPlace<T>::of(place, bytes));
  }
  detail::PublisherHandle handle_;
};

// A message, or bytes, where they lie in the topic; they are given back at the end of its life. It may outlive its subscriber.
template <class T>
class [[nodiscard]] Sample {
  using Place = detail::InPlace<const T>;

 public:
  Sample(detail::SubscriberHandle::Lent lent, Place place, const Received &about) noexcept
      : lent_(std::move(lent)), place_(place), about_(about) {}
  Sample(Sample &&other) noexcept : lent_(std::move(other.lent_)), place_(std::exchange(other.place_, {})), about_(other.about_) {}
  Sample &operator=(Sample &&) = delete;
  // The message in its place. There is none where the sample is empty.
  const T &operator*() const noexcept { return place_.value(); }
  // As operator*.
  const T *operator->() const noexcept { return &place_.value(); }
  // Whether there is a message.
  explicit operator bool() const noexcept { return bool(lent_); }
  // What is known of the message.
  const Received &about() const noexcept { return about_; }

 private:
  detail::SubscriberHandle::Lent lent_;
  Place place_;
  Received about_;
};

// A subscribing end of a topic of messages T, or of Bytes. One thread at a time uses it.
template <class T>
class Subscriber {
 public:
  // Joins the topic, which need not be there yet. Refused with a reason, as where others mean other fields by it.
  static Result<Subscriber> open(const std::string &topic, const Options &options = {}) {
    return detail::opened_for_messages<Subscriber, detail::SubscriberHandle, T>(horus_subscriber_open, topic, options);
  }
  // Of Bytes: for messages of up to `maximum` bytes.
  template <class U = T, class = std::enable_if_t<detail::is_bytes<U>>>
  static Result<Subscriber> open(const std::string &topic, std::size_t maximum, const Options &options = {}) {
    return detail::opened_for_bytes<Subscriber, detail::SubscriberHandle>(horus_subscriber_open, topic, maximum, options);
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  explicit Subscriber(const std::string &topic, const Options &options = {}) : Subscriber(open(topic, options).take()) {}
  // As `open` of Bytes.
  template <class U = T, class = std::enable_if_t<detail::is_bytes<U>>>
  Subscriber(const std::string &topic, std::size_t maximum, const Options &options = {}) : Subscriber(open(topic, maximum, options).take()) {}
#endif
  explicit Subscriber(detail::SubscriberHandle handle) noexcept : handle_(std::move(handle)) {}

  // Receives the next message: a T into a T, and bytes into a std::string or a std::vector of them. False when there is none: then a T holds
  // what it held, or bytes that no publisher sent. Wait-free; what bytes go to may allocate.
  template <class Into = T>
  Outcome try_recv(Into &into, Received *about = nullptr) {
    if constexpr (detail::is_bytes<T>) {
      horus_status status = HORUS_EMPTY;
      const Sample<T> sample = lend(status);
      if (!sample) return detail::checked(status);
      into.assign(sample->begin(), sample->end());
      if (about) *about = sample.about();
      return Outcome(HORUS_OK);
    } else {
      T &message = into;
      return detail::checked(horus_subscriber_try_recv(handle_.get(), &message, sizeof(T), about));
    }
  }
  // Waits for the next message.
  template <class Into = T>
  Outcome recv(Into &into, std::chrono::nanoseconds limit = forever, Received *about = nullptr) {
    if constexpr (detail::is_bytes<T>) {
      using Clock = std::chrono::steady_clock;
      const auto end = limit == forever ? Clock::time_point::max() : Clock::now() + limit;
      for (auto left = limit;; left = limit == forever ? forever : std::chrono::nanoseconds(end - Clock::now())) {
        // What was missed wakes a subscriber, too, and there may be nothing to receive then.
        if (const Outcome outcome = wait(left); !outcome) return outcome;
        if (const Outcome outcome = try_recv(into, about); outcome || outcome.is_error()) return outcome;
      }
    } else {
      T &message = into;
      return detail::checked(horus_subscriber_recv(handle_.get(), &message, sizeof(T), about, detail::limit_ns(limit)));
    }
  }
  // The next message in its place; an empty sample when there is none.
  Sample<T> borrow() {
    horus_status status = HORUS_EMPTY;
    return lend(status);
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
  // How the topic is made: its delivery policy, its room, and the most bytes of a message.
  Shape shape() { return detail::shape_of(horus_subscriber_shape, handle_.get()); }
  // The handle of C, for horus_wait_any. It ends with this object.
  horus_subscriber *handle() const noexcept { return handle_.get(); }

 private:
  Sample<T> lend(horus_status &status) {
    const void *message = nullptr;
    Received about = {};
    auto lent = handle_.lend([&](horus_subscriber *subscriber) { return status = horus_subscriber_borrow(subscriber, &message, &about); });
    return Sample<T>(std::move(lent), detail::InPlace<const T>::of(message, static_cast<std::size_t>(about.bytes)), about);
  }
  detail::SubscriberHandle handle_;
};

}  // namespace HORUS_MODE
}  // namespace horus

#endif

// Topics of bytes: messages of any length up to a maximum.
#ifndef HORUS_CPP_BYTES_HPP
#define HORUS_CPP_BYTES_HPP

#include <string_view>

#include "topic.hpp"

namespace horus {
inline namespace HORUS_MODE {

// Bytes that another object owns, as std::span of C++20.
struct BytesView {
  // Where they are; null for none.
  const std::uint8_t *data = nullptr;
  // How many there are.
  std::size_t size = 0;
  // The first one.
  const std::uint8_t *begin() const noexcept { return data; }
  // Behind the last one.
  const std::uint8_t *end() const noexcept { return data + size; }
  // The one at this place, which is not checked.
  std::uint8_t operator[](std::size_t place) const noexcept { return data[place]; }
  // The same bytes as a text.
  std::string_view text() const noexcept { return {reinterpret_cast<const char *>(data), size}; }
};

namespace detail {
using BytesPublisherHandle = Lender<horus_bytes_publisher, horus_bytes_publisher_close, horus_bytes_publisher_discard>;
using BytesSubscriberHandle = Lender<horus_bytes_subscriber, horus_bytes_subscriber_close, horus_bytes_subscriber_release>;
}  // namespace detail

// The place of a message of bytes, to be filled and published. What is not published was never sent. It may outlive its publisher.
class [[nodiscard]] BytesLoan {
 public:
  BytesLoan(detail::BytesPublisherHandle::Lent lent, std::uint8_t *data, std::size_t size) noexcept
      : lent_(std::move(lent)), data_(lent_ ? data : nullptr), size_(lent_ ? size : 0) {}
  BytesLoan(BytesLoan &&other) noexcept
      : lent_(std::move(other.lent_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  BytesLoan &operator=(BytesLoan &&) = delete;
  // Where they are; null where the loan is empty.
  std::uint8_t *data() const noexcept { return data_; }
  // How many there are; 0 where the loan is empty.
  std::size_t size() const noexcept { return size_; }
  // The first one.
  std::uint8_t *begin() const noexcept { return data_; }
  // Behind the last one.
  std::uint8_t *end() const noexcept { return data_ + size_; }
  // The one at this place, which is not checked.
  std::uint8_t &operator[](std::size_t place) const noexcept { return data_[place]; }
  // Whether there is a place, or a message.
  explicit operator bool() const noexcept { return bool(lent_); }
  // Sends all of it. An empty loan is an error.
  void publish() { publish(size_); }
  // Only the first bytes; no more than there are.
  void publish(std::size_t bytes) {
    const std::size_t most = std::exchange(size_, 0);
    data_ = nullptr;
    lent_.end([&](horus_bytes_publisher *publisher) { return horus_bytes_publisher_publish(publisher, bytes < most ? bytes : most); });
  }

 private:
  detail::BytesPublisherHandle::Lent lent_;
  std::uint8_t *data_;
  std::size_t size_;
};

// The publishing end of a topic of bytes. One thread at a time uses it.
class BytesPublisher {
 public:
  // Opens the topic, and makes it when it is missing, for messages of up to `maximum` bytes. Refused with a reason.
  static Result<BytesPublisher> open(const std::string &topic, std::size_t maximum, const Options &options = {}) {
    return detail::opened<BytesPublisher, detail::BytesPublisherHandle>([&] {
      const horus_options raw = options.raw();
      return horus_bytes_publisher_open(topic.c_str(), maximum, &raw);
    });
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  BytesPublisher(const std::string &topic, std::size_t maximum, const Options &options = {})
      : BytesPublisher(open(topic, maximum, options).take()) {}
#endif
  explicit BytesPublisher(detail::BytesPublisherHandle handle) noexcept : handle_(std::move(handle)) {}

  // Sends a message; false when there is no room. Wait-free. More bytes than the topic's maximum are an error.
  Outcome try_send(const void *message, std::size_t bytes) {
    return detail::checked(horus_bytes_publisher_try_send(handle_.get(), message, bytes));
  }
  Outcome try_send(std::string_view text) { return try_send(text.data(), text.size()); }
  // Sends a message, and waits for room on a reliable topic; false when the time is up.
  Outcome send(std::string_view text, std::chrono::nanoseconds limit = forever) { return send(text.data(), text.size(), limit); }
  Outcome send(const void *message, std::size_t bytes, std::chrono::nanoseconds limit = forever) {
    return detail::checked(horus_bytes_publisher_send(handle_.get(), message, bytes, detail::limit_ns(limit)));
  }
  // Lends the place of the next message, of so many bytes; an empty loan when there is no room.
  BytesLoan loan(std::size_t bytes) {
    void *place = nullptr;
    auto lent = handle_.lend([&](horus_bytes_publisher *publisher) { return horus_bytes_publisher_loan(publisher, bytes, &place); });
    return BytesLoan(std::move(lent), static_cast<std::uint8_t *>(place), bytes);
  }
  // How many subscribers there are now; it looks after those that died, and so makes system calls.
  std::size_t subscribers() { return horus_bytes_publisher_subscribers(handle_.get()); }
  // Takes back what subscribers that died held; gives how many there were. It makes system calls.
  std::size_t reap() { return horus_bytes_publisher_reap(handle_.get()); }
  // An error in a process that was forked after the opening: it may not use this.
  Outcome check() { return detail::checked(horus_bytes_publisher_check(handle_.get())); }
  // How the topic is made: its policy, its room, its publishers, and its maximum in bytes.
  Shape shape() { return detail::shape_of(horus_bytes_publisher_shape, handle_.get()); }

 private:
  detail::BytesPublisherHandle handle_;
};

// A message of bytes where it lies; it is given back at the end of its life. It may outlive its subscriber.
class [[nodiscard]] BytesSample {
 public:
  BytesSample(detail::BytesSubscriberHandle::Lent lent, BytesView bytes, const Received &about) noexcept
      : lent_(std::move(lent)), bytes_(bytes), about_(about) {}
  BytesSample(BytesSample &&other) noexcept : lent_(std::move(other.lent_)), bytes_(std::exchange(other.bytes_, {})), about_(other.about_) {}
  BytesSample &operator=(BytesSample &&) = delete;
  // Whether there is a place, or a message.
  explicit operator bool() const noexcept { return bool(lent_); }
  // The message in its place. There is none where the sample is empty.
  const BytesView &operator*() const noexcept { return bytes_; }
  // As operator*.
  const BytesView *operator->() const noexcept { return &bytes_; }
  // What is known of the message beside its bytes.
  const Received &about() const noexcept { return about_; }

 private:
  detail::BytesSubscriberHandle::Lent lent_;
  BytesView bytes_;
  Received about_;
};

// A subscribing end of a topic of bytes. One thread at a time uses it.
class BytesSubscriber {
 public:
  // Joins the topic, which need not be there yet, for messages of up to `maximum` bytes. Refused with a reason.
  static Result<BytesSubscriber> open(const std::string &topic, std::size_t maximum, const Options &options = {}) {
    return detail::opened<BytesSubscriber, detail::BytesSubscriberHandle>([&] {
      const horus_options raw = options.raw();
      return horus_bytes_subscriber_open(topic.c_str(), maximum, &raw);
    });
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  BytesSubscriber(const std::string &topic, std::size_t maximum, const Options &options = {})
      : BytesSubscriber(open(topic, maximum, options).take()) {}
#endif
  explicit BytesSubscriber(detail::BytesSubscriberHandle handle) noexcept : handle_(std::move(handle)) {}

  // The next message in its place; an empty sample when there is none.
  BytesSample borrow() {
    const void *message = nullptr;
    std::size_t bytes = 0;
    Received about = {};
    auto lent = handle_.lend([&](horus_bytes_subscriber *subscriber) {
      return last_ = horus_bytes_subscriber_borrow(subscriber, &message, &bytes, &about);
    });
    return BytesSample(std::move(lent), {static_cast<const std::uint8_t *>(message), bytes}, about);
  }
  // Receives the next message into a std::string, or a std::vector of bytes; false when there is none, and `into` is as it was.
  template <class Bytes>
  Outcome try_recv(Bytes &into, Received *about = nullptr) {
    const BytesSample sample = borrow();
    if (!sample) return detail::checked(last_);
    into.assign(sample->begin(), sample->end());
    if (about) *about = sample.about();
    return Outcome(HORUS_OK);
  }
  // Waits for the next message.
  template <class Bytes>
  Outcome recv(Bytes &into, std::chrono::nanoseconds limit = forever, Received *about = nullptr) {
    const auto end = limit == forever ? Clock::time_point::max() : Clock::now() + limit;
    for (auto left = limit;; left = limit == forever ? forever : std::chrono::nanoseconds(end - Clock::now())) {
      // What was missed wakes a subscriber, too, and there may be nothing to receive then.
      if (const Outcome outcome = wait(left); !outcome) return outcome;
      if (const Outcome outcome = try_recv(into, about); outcome || outcome.is_error()) return outcome;
    }
  }
  // Waits until there is something to receive or to borrow.
  Outcome wait(std::chrono::nanoseconds limit = forever) { return detail::waited(handle_.get(), limit); }
  // How many messages were overwritten before they were received, since it joined.
  std::uint64_t missed() { return horus_bytes_subscriber_missed(handle_.get()); }
  // Whether a publisher has the topic now. It makes system calls.
  bool is_published() { return horus_bytes_subscriber_is_published(handle_.get()) == HORUS_OK; }
  // An error in a process that was forked after the opening: it may not use this.
  Outcome check() { return detail::checked(horus_bytes_subscriber_check(handle_.get())); }
  // How the topic is made: its policy, its room, its publishers, and its maximum in bytes.
  Shape shape() { return detail::shape_of(horus_bytes_subscriber_shape, handle_.get()); }
  // The handle of C, for horus_wait_any. It ends with this object.
  void *handle() const noexcept { return handle_.get(); }

 private:
  using Clock = std::chrono::steady_clock;
  detail::BytesSubscriberHandle handle_;
  // What borrowing came to.
  horus_status last_ = HORUS_EMPTY;
};

}  // namespace HORUS_MODE
}  // namespace horus

#endif

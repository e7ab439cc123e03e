// Topics of bytes: messages of any length up to a maximum.
#ifndef HORUS_CPP_BYTES_HPP
#define HORUS_CPP_BYTES_HPP

#include <string_view>

#include "topic.hpp"

namespace horus {
inline namespace HORUS_MODE {

// Bytes that are somebody else's, as std::span of C++20.
struct BytesView {
  const std::uint8_t *data = nullptr;
  std::size_t size = 0;
  const std::uint8_t *begin() const noexcept { return data; }
  const std::uint8_t *end() const noexcept { return data + size; }
  std::uint8_t operator[](std::size_t place) const noexcept { return data[place]; }
  std::string_view text() const noexcept { return {reinterpret_cast<const char *>(data), size}; }
};

namespace detail {
using BytesPublisherHandle = Owned<horus_bytes_publisher, horus_bytes_publisher_close>;
using BytesSubscriberHandle = Owned<horus_bytes_subscriber, horus_bytes_subscriber_close>;
}  // namespace detail

class BytesPublisher {
 public:
  static Result<BytesPublisher> open(const std::string &topic, std::size_t maximum, const Options &options = {}) {
    return detail::opened<BytesPublisher, detail::BytesPublisherHandle>([&] {
      const horus_options raw = options.raw();
      return horus_bytes_publisher_open(topic.c_str(), maximum, &raw);
    });
  }
#ifndef HORUS_NO_EXCEPTIONS
  BytesPublisher(const std::string &topic, std::size_t maximum, const Options &options = {})
      : BytesPublisher(open(topic, maximum, options).take()) {}
#endif
  explicit BytesPublisher(detail::BytesPublisherHandle handle) noexcept : handle_(std::move(handle)) {}

  Outcome try_send(const void *message, std::size_t bytes) {
    return detail::checked(horus_bytes_publisher_try_send(handle_.get(), message, bytes));
  }
  Outcome try_send(std::string_view text) { return try_send(text.data(), text.size()); }
  Outcome send(const void *message, std::size_t bytes, std::chrono::nanoseconds limit = forever) {
    return detail::checked(horus_bytes_publisher_send(handle_.get(), message, bytes, detail::limit_ns(limit)));
  }
  std::size_t subscribers() { return horus_bytes_publisher_subscribers(handle_.get()); }

 private:
  detail::BytesPublisherHandle handle_;
};

// A message of bytes where it lies; it is given back at the end of its life.
class [[nodiscard]] BytesSample {
 public:
  BytesSample(horus_bytes_subscriber *subscriber, BytesView bytes, bool is_there) noexcept
      : subscriber_(is_there ? subscriber : nullptr), bytes_(bytes) {}
  BytesSample(BytesSample &&other) noexcept : subscriber_(std::exchange(other.subscriber_, nullptr)), bytes_(other.bytes_) {}
  BytesSample &operator=(BytesSample &&) = delete;
  ~BytesSample() {
    if (subscriber_) horus_bytes_subscriber_release(subscriber_);
  }
  explicit operator bool() const noexcept { return subscriber_ != nullptr; }
  const BytesView &operator*() const noexcept { return bytes_; }
  const BytesView *operator->() const noexcept { return &bytes_; }

 private:
  horus_bytes_subscriber *subscriber_;
  BytesView bytes_;
};

class BytesSubscriber {
 public:
  static Result<BytesSubscriber> open(const std::string &topic, std::size_t maximum, const Options &options = {}) {
    return detail::opened<BytesSubscriber, detail::BytesSubscriberHandle>([&] {
      const horus_options raw = options.raw();
      return horus_bytes_subscriber_open(topic.c_str(), maximum, &raw);
    });
  }
#ifndef HORUS_NO_EXCEPTIONS
  BytesSubscriber(const std::string &topic, std::size_t maximum, const Options &options = {})
      : BytesSubscriber(open(topic, maximum, options).take()) {}
#endif
  explicit BytesSubscriber(detail::BytesSubscriberHandle handle) noexcept : handle_(std::move(handle)) {}

  // The next message in its place; an empty sample when there is none.
  BytesSample borrow() {
    const void *message = nullptr;
    std::size_t bytes = 0;
    const Outcome outcome = detail::checked(horus_bytes_subscriber_borrow(handle_.get(), &message, &bytes, nullptr));
    return BytesSample(handle_.get(), {static_cast<const std::uint8_t *>(message), bytes}, bool(outcome));
  }
  std::uint64_t missed() { return horus_bytes_subscriber_missed(handle_.get()); }
  void *handle() const noexcept { return handle_.get(); }

 private:
  detail::BytesSubscriberHandle handle_;
};

}  // namespace HORUS_MODE
}  // namespace horus

#endif

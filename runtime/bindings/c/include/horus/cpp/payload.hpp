// The kinds of payload of a topic: messages of a struct, and bytes of any length up to a maximum.
#ifndef HORUS_CPP_PAYLOAD_HPP
#define HORUS_CPP_PAYLOAD_HPP

#include <memory>
#include <string_view>

#include "message.hpp"

namespace horus {
inline namespace HORUS_MODE {

// Bytes that another object owns, as std::span of C++20: what a Publisher<Bytes> sends, and what a Subscriber<Bytes> lends.
struct Bytes {
  // Where they are; null for none.
  const std::uint8_t *data = nullptr;
  // How many there are.
  std::size_t size = 0;
  // None.
  Bytes() = default;
  // So many, from there.
  Bytes(const void *from, std::size_t bytes) noexcept : data(static_cast<const std::uint8_t *>(from)), size(bytes) {}
  // Those of a text, up to its zero byte.
  Bytes(const char *text) noexcept : Bytes(std::string_view(text)) {}
  // Those of a std::string, a std::string_view, or a std::vector or std::array of bytes.
  template <class Container, class = std::enable_if_t<sizeof(*std::declval<const Container &>().data()) == 1>>
  Bytes(const Container &all) noexcept : Bytes(static_cast<const void *>(all.data()), all.size()) {}
  // The first one.
  const std::uint8_t *begin() const noexcept { return data; }
  // Behind the last one.
  const std::uint8_t *end() const noexcept { return data + size; }
  // The one at this place, which is not checked.
  std::uint8_t operator[](std::size_t place) const noexcept { return data[place]; }
  // The same bytes as a text.
  std::string_view text() const noexcept { return {reinterpret_cast<const char *>(data), size}; }
};

// Bytes that a Loan<Bytes> lends, to be written.
struct BytesPlace {
  // Where they are; null where the loan is empty.
  std::uint8_t *data = nullptr;
  // How many there are.
  std::size_t size = 0;
  // The first one.
  std::uint8_t *begin() const noexcept { return data; }
  // Behind the last one.
  std::uint8_t *end() const noexcept { return data + size; }
  // The one at this place, which is not checked.
  std::uint8_t &operator[](std::size_t place) const noexcept { return data[place]; }
};

namespace detail {

template <class T>
inline constexpr bool is_bytes = std::is_same_v<T, Bytes>;

// What is sent, as C takes it.
template <class T>
Bytes as_sent(const T &message) noexcept {
  return Bytes(static_cast<const void *>(&message), sizeof(T));
}
inline Bytes as_sent(const Bytes &message) noexcept { return message; }

// A message where it lies in the topic, to be written, or with a const T to be read.
template <class T>
struct InPlace {
  T *at = nullptr;
  template <class Void>
  static InPlace of(Void *from, std::size_t) noexcept {
    return {static_cast<T *>(from)};
  }
  T &value() const noexcept { return *at; }
  std::size_t bytes() const noexcept { return sizeof(T); }
};
template <>
struct InPlace<Bytes> {
  BytesPlace all = {};
  static InPlace of(void *from, std::size_t count) noexcept { return {{static_cast<std::uint8_t *>(from), count}}; }
  const BytesPlace &value() const noexcept { return all; }
  std::size_t bytes() const noexcept { return all.size; }
};
template <>
struct InPlace<const Bytes> {
  Bytes all = {};
  static InPlace of(const void *from, std::size_t count) noexcept { return {{from, count}}; }
  const Bytes &value() const noexcept { return all; }
};

// Where an input keeps a message: it has room for the longest one.
template <class T>
class Room {
 public:
  void *at() const noexcept { return message_.get(); }
  std::size_t size() const noexcept { return sizeof(T); }
  void holds(const horus_received &) noexcept {}
  T *message() const noexcept { return message_.get(); }

 private:
  std::unique_ptr<T> message_ = std::make_unique<T>();
};
template <>
class Room<Bytes> {
 public:
  explicit Room(std::size_t maximum) : all_(new std::uint8_t[maximum]), size_(maximum), message_(std::make_unique<Bytes>()) {}
  void *at() const noexcept { return all_.get(); }
  std::size_t size() const noexcept { return size_; }
  // What came has a length of its own.
  void holds(const horus_received &about) noexcept { *message_ = Bytes(all_.get(), static_cast<std::size_t>(about.bytes)); }
  Bytes *message() const noexcept { return message_.get(); }

 private:
  std::unique_ptr<std::uint8_t[]> all_;
  std::size_t size_;
  // It stays where it is when its input moves, as the message of a struct does.
  std::unique_ptr<Bytes> message_;
};

// The layout of messages of up to so many bytes.
inline Owned<horus_layout, horus_layout_close> layout_of_bytes(std::size_t maximum) {
  return Owned<horus_layout, horus_layout_close>(horus_layout_of_bytes(maximum));
}

}  // namespace detail
}  // namespace HORUS_MODE
}  // namespace horus

#endif

// What a step says: the levels of a line, and the values that it has.
#ifndef HORUS_CPP_LOG_HPP
#define HORUS_CPP_LOG_HPP

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "error.hpp"

namespace horus {
inline namespace HORUS_MODE {

// How serious a line is.
enum class Level : horus_level {
  // For finding a mistake.
  debug = HORUS_LOG_DEBUG,
  // The normal course of things.
  info = HORUS_LOG_INFO,
  // Worth a look.
  warn = HORUS_LOG_WARN,
  // Failed: a person has to act.
  error = HORUS_LOG_ERROR,
};

namespace detail {

template <class T>
inline constexpr bool no_value_of_a_line = false;

// A value as C has it.
template <class T>
horus_log_value log_value(const T &value) noexcept {
  horus_log_value made = {};
  if constexpr (std::is_same_v<T, bool>) {
    made.kind = HORUS_LOG_BOOL;
    made.bits = value;
  } else if constexpr (std::is_same_v<T, float>) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    made.kind = HORUS_LOG_FLOAT;
    made.bits = bits;
  } else if constexpr (std::is_same_v<T, double>) {
    made.kind = HORUS_LOG_DOUBLE;
    std::memcpy(&made.bits, &value, sizeof made.bits);
  } else if constexpr (std::is_integral_v<T>) {
    made.kind = std::is_signed_v<T> ? HORUS_LOG_SIGNED : HORUS_LOG_UNSIGNED;
    made.bits = static_cast<std::uint64_t>(value);
  } else if constexpr (std::is_convertible_v<const T &, std::string_view>) {
    const std::string_view text = value;
    made.kind = HORUS_LOG_TEXT;
    made.bits = text.size();
    made.text = text.data();
  } else {
    static_assert(no_value_of_a_line<T>, "a line has integers, floats, doubles, bools and texts: give the numbers that this is made of");
  }
  return made;
}

}  // namespace detail
}  // namespace HORUS_MODE
}  // namespace horus

#endif

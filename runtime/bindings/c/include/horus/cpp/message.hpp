// Messages: a struct becomes one by HORUS_MESSAGE(Struct, "package/Name", field, field, ...), which proves that no byte of it is padding.
#ifndef HORUS_CPP_MESSAGE_HPP
#define HORUS_CPP_MESSAGE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "error.hpp"

// What the two functions of HORUS_MESSAGE are overloaded by. It is of no namespace, so that they are found both in the namespace of their struct
// and outside of all: a call looks where its argument's template and the arguments of that are from.
template <class T>
struct horus_message_tag {};

namespace horus {
inline namespace HORUS_MODE {
namespace detail {

class Description;

template <class T, class = void>
inline constexpr bool has_message = false;
template <class T>
inline constexpr bool has_message<T, std::void_t<decltype(horus_message_name(horus_message_tag<T>{}))>> = true;

}  // namespace detail

// What a struct is as a message: HORUS_MESSAGE says it.
template <class T>
struct Message {
  // Whether HORUS_MESSAGE names the struct.
  static constexpr bool is_described = detail::has_message<T>;
  // The name by which all programs know the message: "package/Name".
  static const char *name() { return horus_message_name(horus_message_tag<T>{}); }
  static void describe(detail::Description &to) { horus_message_fields(horus_message_tag<T>{}, to); }
};

namespace detail {

struct Place {
  std::size_t offset, bytes, alignment;
};

// Whether fields follow each other without a gap, in the order of the struct.
constexpr bool adjacent(std::initializer_list<Place> fields, std::size_t all) {
  std::size_t end = 0;
  for (const Place &field : fields) {
    if (field.offset != end) return false;
    end += field.bytes;
  }
  return end == all;
}

// The largest alignment of fields: a struct that wants more lies elsewhere in other messages than its layout says.
constexpr std::size_t alignment(std::initializer_list<Place> fields) {
  std::size_t largest = 1;
  for (const Place &field : fields) largest = field.alignment > largest ? field.alignment : largest;
  return largest;
}

// Letters are no numbers: whether `char` has a sign differs, and so does the size of `wchar_t`.
template <class T>
inline constexpr bool is_letter = std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char16_t> ||
#ifdef __cpp_char8_t
                                  std::is_same_v<T, char8_t> ||
#endif
                                  std::is_same_v<T, char32_t>;

// The texts of a message and of those inside of it.
class Description {
 public:
  template <class T>
  static std::string of() {
    Description all;
    all.message<T>();
    std::string text;
    for (const Section &section : all.sections_) text += section.text;
    return text;
  }

  template <class T>
  void field(const char *name) {
    std::string type = type_of<std::remove_cv_t<T>>();
    sections_[current_].text += std::string(" ") + name + " " + type + "\n";
  }

 private:
  struct Section {
    std::string name, text;
  };

  template <class T>
  void message() {
    static_assert(Message<T>::is_described, "a field is no number of fixed size, no array, and no struct with HORUS_MESSAGE");
    if (has(Message<T>::name())) {
      // What is of this name is the same message, or the text describes it twice, which no parser takes.
      Description other;
      other.message<T>();
      for (const Section &section : other.sections_)
        if (!has_same(section)) sections_.push_back(section);
      return;
    }
    const std::size_t before = current_;
    current_ = sections_.size();
    sections_.push_back({Message<T>::name(), std::string("message ") + Message<T>::name() + "\n"});
    Message<T>::describe(*this);
    current_ = before;
  }

  bool has(const std::string &name) const {
    for (const Section &section : sections_)
      if (section.name == name) return true;
    return false;
  }
  bool has_same(const Section &other) const {
    for (const Section &section : sections_)
      if (section.name == other.name && section.text == other.text) return true;
    return false;
  }

  template <class T>
  struct IsArray : std::false_type {};
  template <class T, std::size_t N>
  struct IsArray<std::array<T, N>> : std::true_type {};

  template <class T>
  std::string type_of() {
    if constexpr (std::is_array_v<T>) {
      return "[" + type_of<std::remove_extent_t<T>>() + "; " + std::to_string(std::extent_v<T>) + "]";
    } else if constexpr (IsArray<T>::value) {
      return "[" + type_of<typename T::value_type>() + "; " + std::to_string(std::tuple_size_v<T>) + "]";
    } else if constexpr (std::is_floating_point_v<T>) {
      static_assert(sizeof(T) == 4 || sizeof(T) == 8, "long double is not the same everywhere: use double");
      return sizeof(T) == 4 ? "f32" : "f64";
    } else if constexpr (std::is_integral_v<T>) {
      static_assert(!std::is_same_v<T, bool>, "a peer can write any byte: use uint8_t in place of bool");
      static_assert(!is_letter<T>, "a letter is no number of fixed size: use std::uint8_t or std::int8_t");
      return (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
    } else {
      message<T>();
      return Message<T>::name();
    }
  }

  std::vector<Section> sections_;
  std::size_t current_ = 0;
};

// The layout of a message, or why there is none.
struct MadeLayout {
  Owned<horus_layout, horus_layout_close> handle;
  std::string why;
};

// Made once, and kept for as long as the program: threads that outlive main may open topics.
template <class T>
const MadeLayout &made_layout() {
  static_assert(Message<T>::is_described, "this struct is no message: HORUS_MESSAGE(Struct, \"package/Name\", its fields)");
  static const MadeLayout &made = *[] {
    auto *kept = new MadeLayout;
    if (const char *why = misfit()) {
      kept->why = why;
      return kept;
    }
    kept->handle = decltype(kept->handle)(horus_layout_parse(Description::of<T>().c_str()));
    const std::string of = std::string("the message ") + Message<T>::name();
    if (!kept->handle.get()) {
      kept->why = of + ": " + horus_error();
    } else if (const std::size_t bytes = horus_layout_bytes(kept->handle.get()); bytes != sizeof(T)) {
      kept->why = of + " has " + std::to_string(bytes) + " bytes, and its struct " + std::to_string(sizeof(T));
      kept->handle = decltype(kept->handle)();
    }
    return kept;
  }();
  return made;
}

// Null when there is none; with exceptions that is one.
template <class T>
horus_layout *layout() {
  const MadeLayout &made = made_layout<T>();
#ifndef HORUS_NO_EXCEPTIONS
  if (!made.handle.get()) throw Error(HORUS_MISUSE, made.why.c_str());
#endif
  return made.handle.get();
}

}  // namespace detail

// The hash by which two programs know that they mean the same message.
template <class T>
std::uint64_t layout_hash() {
  return horus_layout_hash(detail::layout<T>());
}

}  // namespace HORUS_MODE
}  // namespace horus

// HORUS_MESSAGE stands behind its struct: in the namespace of that, or outside of all namespaces.
// It takes up to 24 fields, all of them, in their order.
// No name of horus is looked at before the user's: a struct may be called Imu, Sample or Error.
#define HORUS_MESSAGE(Struct, type_name, ...)                                                                                                  \
  [[maybe_unused]] inline const char *horus_message_name(::horus_message_tag<Struct>) { return type_name; }                                    \
  [[maybe_unused]] inline void horus_message_fields(::horus_message_tag<Struct>, ::horus::detail::Description &horus_to) {                     \
    using HorusStruct = Struct;                                                                                                                \
    static_assert(::std::is_standard_layout_v<HorusStruct> && ::std::is_trivially_copyable_v<HorusStruct>, "a message is plain data");         \
    static_assert(::horus::detail::adjacent({HORUS_EACH(HORUS_PLACE, __VA_ARGS__)}, sizeof(HorusStruct)),                                      \
                  #Struct " has bytes that belong to no field, or the macro names not all fields in their order: order them "                  \
                          "by the size of their numbers, or add std::uint8_t spare[N]");                                                       \
    static_assert(::horus::detail::alignment({HORUS_EACH(HORUS_PLACE, __VA_ARGS__)}) == alignof(HorusStruct),                                  \
                  #Struct " is aligned to more or less than its fields are: leave alignas and packing out");                                   \
    HORUS_EACH(HORUS_FIELD, __VA_ARGS__)                                                                                                       \
  }                                                                                                                                            \
  static_assert(::horus::Message<Struct>::is_described, "HORUS_MESSAGE stands in the namespace of " #Struct ", or outside of all namespaces")

#define HORUS_PLACE(member) \
  ::horus::detail::Place{offsetof(HorusStruct, member), sizeof(HorusStruct::member), alignof(decltype(HorusStruct::member))},
#define HORUS_FIELD(member) horus_to.field<decltype(HorusStruct::member)>(#member);

#define HORUS_EACH(DO, ...) HORUS_PICK(__VA_ARGS__, HORUS_COUNTS)(DO, __VA_ARGS__)
#define HORUS_COUNTS                                                                                                      \
  HORUS_24, HORUS_23, HORUS_22, HORUS_21, HORUS_20, HORUS_19, HORUS_18, HORUS_17, HORUS_16, HORUS_15, HORUS_14, HORUS_13, \
      HORUS_12, HORUS_11, HORUS_10, HORUS_9, HORUS_8, HORUS_7, HORUS_6, HORUS_5, HORUS_4, HORUS_3, HORUS_2, HORUS_1, 0
#define HORUS_PICK(...) HORUS_PICK_NOW(__VA_ARGS__)
#define HORUS_PICK_NOW(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, which, ...) which
#define HORUS_1(DO, a) DO(a)
#define HORUS_2(DO, a, ...) DO(a) HORUS_1(DO, __VA_ARGS__)
#define HORUS_3(DO, a, ...) DO(a) HORUS_2(DO, __VA_ARGS__)
#define HORUS_4(DO, a, ...) DO(a) HORUS_3(DO, __VA_ARGS__)
#define HORUS_5(DO, a, ...) DO(a) HORUS_4(DO, __VA_ARGS__)
#define HORUS_6(DO, a, ...) DO(a) HORUS_5(DO, __VA_ARGS__)
#define HORUS_7(DO, a, ...) DO(a) HORUS_6(DO, __VA_ARGS__)
#define HORUS_8(DO, a, ...) DO(a) HORUS_7(DO, __VA_ARGS__)
#define HORUS_9(DO, a, ...) DO(a) HORUS_8(DO, __VA_ARGS__)
#define HORUS_10(DO, a, ...) DO(a) HORUS_9(DO, __VA_ARGS__)
#define HORUS_11(DO, a, ...) DO(a) HORUS_10(DO, __VA_ARGS__)
#define HORUS_12(DO, a, ...) DO(a) HORUS_11(DO, __VA_ARGS__)
#define HORUS_13(DO, a, ...) DO(a) HORUS_12(DO, __VA_ARGS__)
#define HORUS_14(DO, a, ...) DO(a) HORUS_13(DO, __VA_ARGS__)
#define HORUS_15(DO, a, ...) DO(a) HORUS_14(DO, __VA_ARGS__)
#define HORUS_16(DO, a, ...) DO(a) HORUS_15(DO, __VA_ARGS__)
#define HORUS_17(DO, a, ...) DO(a) HORUS_16(DO, __VA_ARGS__)
#define HORUS_18(DO, a, ...) DO(a) HORUS_17(DO, __VA_ARGS__)
#define HORUS_19(DO, a, ...) DO(a) HORUS_18(DO, __VA_ARGS__)
#define HORUS_20(DO, a, ...) DO(a) HORUS_19(DO, __VA_ARGS__)
#define HORUS_21(DO, a, ...) DO(a) HORUS_20(DO, __VA_ARGS__)
#define HORUS_22(DO, a, ...) DO(a) HORUS_21(DO, __VA_ARGS__)
#define HORUS_23(DO, a, ...) DO(a) HORUS_22(DO, __VA_ARGS__)
#define HORUS_24(DO, a, ...) DO(a) HORUS_23(DO, __VA_ARGS__)

#endif

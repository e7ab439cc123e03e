// Parameters: those that a node declares, and those of programs that run. docs/parameters.md is the guide.
#ifndef HORUS_CPP_PARAM_HPP
#define HORUS_CPP_PARAM_HPP

#include <chrono>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "topic.hpp"

namespace horus {
inline namespace HORUS_MODE {

// What a parameter can be: a truth value, a whole number, a finite number, or a text of at most 64 bytes.
struct Value : horus_value {
  // None.
  Value() noexcept : horus_value{HORUS_NONE, 0, 0, 0, {}} {}
  // A truth value, or a number as it is.
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Value(T given) noexcept : Value() {
    if constexpr (std::is_same_v<T, bool>) {
      kind = HORUS_BOOL;
      is_true = given;
    } else if constexpr (std::is_integral_v<T>) {
      // One that is too large for 64 bits with a sign is none, and is refused by what is given it.
      if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof whole)
        if (given > static_cast<T>(INT64_MAX)) return;
      kind = HORUS_WHOLE;
      whole = static_cast<std::int64_t>(given);
    } else {
      kind = HORUS_NUMBER;
      number = static_cast<double>(given);
    }
  }
  // A text; one that is too long is refused by who is given it.
  Value(const char *given) noexcept : Value() {
    kind = HORUS_TEXT;
    std::strncpy(text, given, sizeof text - 1);
  }
  // As above.
  Value(const std::string &given) noexcept : Value(given.c_str()) {}
  // What C has.
  Value(const horus_value &given) noexcept : horus_value(given) {}
};

// What is said of a parameter beside its name and its default.
class ParamOptions {
 public:
  // Its unit, such as "1/s": at most 16 bytes.
  ParamOptions &unit(std::string text) {
    unit_ = std::move(text);
    return *this;
  }
  // What it is for, as a sentence without its end: at most 200 bytes.
  ParamOptions &about(std::string text) {
    about_ = std::move(text);
    return *this;
  }
  // The least and the greatest value, of the kind of the default.
  ParamOptions &range(Value least, Value greatest) {
    least_ = least;
    greatest_ = greatest;
    return *this;
  }
  // Has it change at the program's start alone.
  ParamOptions &read_only() {
    read_only_ = true;
    return *this;
  }
  // As C has it, as long as this lives.
  horus_param_wishes raw() const noexcept {
    const bool any = least_.kind != HORUS_NONE;
    return {unit_.c_str(), about_.c_str(), any ? &least_ : nullptr, any ? &greatest_ : nullptr, read_only_, 0};
  }

 private:
  std::string unit_, about_;
  Value least_, greatest_;
  bool read_only_ = false;
};

namespace detail {
// What a default of this type makes a parameter of.
template <class T>
using ParamOf = std::conditional_t<std::is_same_v<T, bool>, bool,
                                   std::conditional_t<std::is_integral_v<T>, std::int64_t,
                                                      std::conditional_t<std::is_floating_point_v<T>, double, std::string>>>;
}  // namespace detail

// A parameter of a node: of bool, std::int64_t, double or std::string. Its steps read it, and copies are of one parameter.
template <class T>
class Param {
 public:
  // Of what App::param made; it need not be kept beside this.
  explicit Param(horus_param *param) : param_(param, horus_param_close) {}

  // Its value in this cycle. A text of more than 15 bytes takes memory: in a step that must not, `copy_to` gives it.
  T get() const {
    if constexpr (std::is_same_v<T, bool>) {
      return horus_param_is_true(param_.get()) != 0;
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      return horus_param_whole(param_.get());
    } else if constexpr (std::is_same_v<T, double>) {
      return horus_param_number(param_.get());
    } else {
      char text[72];
      return horus_param_text(param_.get(), text, sizeof text) == HORUS_OK ? std::string(text) : std::string();
    }
  }
  // As `get`.
  operator T() const { return get(); }
  // A text with a zero byte behind: 65 bytes are enough for all.
  Outcome copy_to(char *text, std::size_t bytes) const { return detail::checked(horus_param_text(param_.get(), text, bytes)); }

 private:
  std::shared_ptr<horus_param> param_;
};

// A parameter of a program that runs, at one moment.
using Parameter = horus_parameter;

// A parameter that has another value than before.
struct ParamChange {
  // What the value was.
  Value before;
  // What it is, and where that came from.
  Parameter now;
};

// The parameters of a program that runs. One thread at a time uses it.
class Params {
  using Handle = detail::Owned<horus_params, horus_params_close>;

 public:
  // Those of a program, "nav", or of one of its nodes, "nav/drive". Refused with a reason, as where no such program runs.
  static Result<Params> open(const std::string &name) {
    if (const char *why = detail::misfit()) return Result<Params>::refused(why);
    Handle handle(horus_params_open(name.c_str()));
    if (!handle.get()) return Result<Params>::refused(horus_error());
    return Result<Params>(Params(std::move(handle)));
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  explicit Params(const std::string &name) : Params(open(name).take()) {}
#endif
  explicit Params(Handle handle) noexcept : handle_(std::move(handle)) {}

  // All of them at one moment; none where the program has ended.
  std::vector<Parameter> list() {
    std::vector<Parameter> found;
    Parameter about;
    while (detail::checked(horus_params_list(handle_.get(), found.size(), &about))) found.push_back(about);
    return found;
  }
  // The one of this name, or "drive.gain" where several nodes have it.
  Outcome get(const std::string &name, Parameter &about) { return detail::checked(horus_params_get(handle_.get(), name.c_str(), &about)); }
  // Sets several, all of them or none: set({{"gain", 1.2}, {"turn", 3}}).
  Outcome set(std::initializer_list<std::pair<const char *, Value>> values) {
    std::vector<horus_assignment> all;
    for (const auto &each : values) all.push_back({each.first, each.second});
    return detail::checked(horus_params_set(handle_.get(), all.data(), all.size()));
  }
  // Sets one.
  Outcome set(const char *name, const Value &value) { return set({{name, value}}); }
  // Waits for a change, one a call; none came in time where this is false. The first call begins to watch.
  Outcome watch(std::chrono::nanoseconds limit, ParamChange &change) {
    return detail::checked(horus_params_watch(handle_.get(), detail::limit_ns(limit), &change.before, &change.now));
  }
  // Has the program save these, so that it begins with them when it starts again; without names those that were set.
  Outcome save(std::initializer_list<const char *> names = {}) {
    return detail::checked(horus_params_save(handle_.get(), names.begin(), names.size()));
  }
  // Has the program set these to what is saved, all of them or none; without names all.
  Outcome load(std::initializer_list<const char *> names = {}) {
    return detail::checked(horus_params_load(handle_.get(), names.begin(), names.size()));
  }
  // Has the program drop what is saved of these; without names all. Their values stay until it ends.
  Outcome forget(std::initializer_list<const char *> names = {}) {
    return detail::checked(horus_params_forget(handle_.get(), names.begin(), names.size()));
  }

 private:
  Handle handle_;
};

}  // namespace HORUS_MODE
}  // namespace horus

#endif

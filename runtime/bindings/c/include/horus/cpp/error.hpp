// What a call comes to, with exceptions and without.
#ifndef HORUS_CPP_ERROR_HPP
#define HORUS_CPP_ERROR_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "../horus.h"

#if !defined(HORUS_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define HORUS_NO_EXCEPTIONS
#endif

// What throws has another name, for the linker, than what does not: a program may be made of files that are compiled with exceptions and of files
// that are not. Messages are the same in both.
#ifdef HORUS_NO_EXCEPTIONS
#define HORUS_MODE without_exceptions
#else
#define HORUS_MODE with_exceptions
#endif

namespace horus {
inline namespace HORUS_MODE {

// Why something was not done: the same sentence as in every language.
class Error : public std::runtime_error {
 public:
  // An error of this status, with its sentence.
  Error(horus_status status, const char *said) : std::runtime_error(said), status_(status) {}
  // HORUS_MISUSE, HORUS_FAILED or HORUS_PANICKED; of an outcome also HORUS_OK, HORUS_EMPTY or HORUS_FULL.
  horus_status status() const noexcept { return status_; }

 private:
  horus_status status_;
};

// What an outcome is for who does not look at it: with exceptions it says no more than whether there was a message, or room.
#ifdef HORUS_NO_EXCEPTIONS
#define HORUS_LOOK_AT_IT [[nodiscard]]
#else
#define HORUS_LOOK_AT_IT
#endif

// What a call came to. Without exceptions it has to be looked at.
class HORUS_LOOK_AT_IT Outcome {
 public:
  // What a call of C gave.
  explicit Outcome(horus_status status) noexcept : status_(status) {}
  // Whether it was done. Where it was not, there was no message, no room, or an error.
  explicit operator bool() const noexcept { return status_ == HORUS_OK; }
  // Whether it failed: `error` says why.
  bool is_error() const noexcept { return status_ < 0; }
  // HORUS_MISUSE, HORUS_FAILED or HORUS_PANICKED; of an outcome also HORUS_OK, HORUS_EMPTY or HORUS_FULL.
  horus_status status() const noexcept { return status_; }
  // Of this thread's last error.
  const char *error() const noexcept { return is_error() ? horus_error() : ""; }

 private:
  horus_status status_;
};

namespace detail {

inline Outcome checked(horus_status status) {
#ifndef HORUS_NO_EXCEPTIONS
  if (status < 0) throw Error(status, horus_error());
#endif
  return Outcome(status);
}

// Takes an outcome that can be no error of the arguments.
inline void expect(horus_status status) { (void)checked(status); }

// Why the library that runs is none for this program, which was compiled for another interface; null when it fits. A program that
// opens something asks first. The loader refuses such a library by its name; one that came by another name, or by LD_PRELOAD, it
// does not know.
inline const char *misfit() {
  static const std::string said = [] {
    const std::uint32_t own = HORUS_ABI_VERSION, runs = horus_abi_version();
    if (own == runs) return std::string();
    return "this program was compiled for version " + std::to_string(own) + " of libhorus, and version " + std::to_string(runs) +
           " was loaded: install the one that it was compiled for, or compile it again";
  }();
  return said.empty() ? nullptr : said.c_str();
}

// For what gives no result to look at.
inline void require_fit() {
  const char *const why = misfit();
  if (!why) return;
#ifndef HORUS_NO_EXCEPTIONS
  throw Error(HORUS_FAILED, why);
#else
  std::fprintf(stderr, "%s\n", why);
  std::abort();
#endif
}

// A handle of C that ends with its owner.
template <class Handle, horus_status (*Close)(Handle *)>
class Owned {
 public:
  explicit Owned(Handle *handle = nullptr) noexcept : handle_(handle) {}
  Owned(Owned &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned &operator=(Owned &&other) noexcept {
    if (this != &other) {
      Close(handle_);
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Owned() { Close(handle_); }
  Handle *get() const noexcept { return handle_; }

 private:
  Handle *handle_;
};

}  // namespace detail

// Something that was opened, or why not: what takes the place of exceptions where there are none.
template <class T>
class [[nodiscard]] Result {
 public:
  // Something that was opened.
  Result(T value) : value_(std::move(value)) {}
  // Why it was not.
  static Result refused(std::string why) { return Result(std::move(why), 0); }

  // Whether it was opened.
  explicit operator bool() const noexcept { return value_.has_value(); }
  // Why it was not; empty where it was.
  const std::string &error() const noexcept { return error_; }

  // What was opened. Where there is none it throws, or ends the program without exceptions: look first.
  T &value() {
    if (!value_) missing();
    return *value_;
  }
  // As `value`, moved out of here.
  T take() { return std::move(value()); }
  // As `value`.
  T *operator->() { return &value(); }
  // As `value`.
  T &operator*() { return value(); }

 private:
  Result(std::string why, int) : error_(std::move(why)) {}
  [[noreturn]] void missing() const {
#ifndef HORUS_NO_EXCEPTIONS
    throw Error(HORUS_FAILED, error_.c_str());
#else
    std::fprintf(stderr, "%s\n", error_.c_str());
    std::abort();
#endif
  }
  std::optional<T> value_;
  std::string error_;
};

}  // namespace HORUS_MODE
}  // namespace horus

#endif

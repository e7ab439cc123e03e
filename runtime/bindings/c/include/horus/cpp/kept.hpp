// Handles that belong to a program, or to the object that opened them, and that other objects keep.
#ifndef HORUS_CPP_KEPT_HPP
#define HORUS_CPP_KEPT_HPP

#include <utility>

#include "error.hpp"

namespace horus {
inline namespace HORUS_MODE {
namespace detail {

// A handle that belongs to a program. It is kept here, so that using it after the program has ended is an error.
template <class Handle, horus_status (*Keep)(Handle *), horus_status (*LetGo)(Handle *)>
class Kept {
 public:
  explicit Kept(Handle *handle = nullptr) noexcept : handle_(handle) { keep(); }
  Kept(const Kept &other) noexcept : handle_(other.handle_) { keep(); }
  Kept(Kept &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Kept &operator=(Kept other) noexcept { return std::swap(handle_, other.handle_), *this; }
  ~Kept() { LetGo(handle_); }
  Handle *get() const noexcept { return handle_; }

 private:
  void keep() noexcept {
    if (handle_) Keep(handle_);
  }
  Handle *handle_;
};

// The same, closed here where no program does that.
template <class Handle, horus_status (*Keep)(Handle *), horus_status (*LetGo)(Handle *), horus_status (*Close)(Handle *)>
class MaybeOwned {
 public:
  using Keeper = Kept<Handle, Keep, LetGo>;
  MaybeOwned(Handle *handle, bool is_own) noexcept : kept_(handle), is_own_(is_own && handle) {}
  MaybeOwned(MaybeOwned &&other) noexcept : kept_(std::move(other.kept_)), is_own_(std::exchange(other.is_own_, false)) {}
  MaybeOwned &operator=(MaybeOwned &&other) noexcept {
    if (this != &other) {
      close();
      kept_ = std::move(other.kept_);
      is_own_ = std::exchange(other.is_own_, false);
    }
    return *this;
  }
  ~MaybeOwned() { close(); }
  Handle *get() const noexcept { return kept_.get(); }
  const Keeper &keeper() const noexcept { return kept_; }

 private:
  void close() noexcept {
    if (std::exchange(is_own_, false)) Close(kept_.get());
  }
  Keeper kept_;
  bool is_own_;
};

}  // namespace detail
}  // namespace HORUS_MODE
}  // namespace horus

#endif

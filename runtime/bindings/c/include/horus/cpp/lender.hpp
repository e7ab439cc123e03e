// The handle of an end of a topic, which lends one message at a time. What it lends may outlive it.
#ifndef HORUS_CPP_LENDER_HPP
#define HORUS_CPP_LENDER_HPP

#include "error.hpp"

namespace horus {
inline namespace HORUS_MODE {
namespace detail {

// A handle of C that is closed when its end is gone and nothing of it is lent any more. An end and what it lends are used by one thread at a
// time, as the handle is. What the two share is made with the first loan: who only copies has a handle and nothing else.
template <class Handle, horus_status (*Close)(Handle *), horus_status (*GiveBack)(Handle *)>
class Lender {
  struct Shared {
    Handle *handle;
    bool has_end = true, is_lent = false;

    void leave() noexcept {
      if (has_end || is_lent) return;
      Close(handle);
      delete this;
    }
  };

 public:
  // What is lent; it gives itself back.
  class Lent {
   public:
    Lent() = default;
    explicit Lent(Shared *shared) noexcept : shared_(shared) {}
    Lent(Lent &&other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
    Lent &operator=(Lent &&) = delete;
    ~Lent() { (void)give_back(GiveBack); }
    explicit operator bool() const noexcept { return shared_ != nullptr; }

    // Gives it back by `how`, to do more with it.
    template <class How>
    void end(How how) {
#ifndef HORUS_NO_EXCEPTIONS
      if (!shared_) throw Error(HORUS_MISUSE, "this loan is empty: there was no room, or it was published or moved before");
#endif
      expect(give_back(how));
    }

   private:
    template <class How>
    horus_status give_back(How how) {
      Shared *shared = std::exchange(shared_, nullptr);
      if (!shared) return HORUS_OK;
      const horus_status status = how(shared->handle);
      shared->is_lent = false;
      shared->leave();
      return status;
    }
    Shared *shared_ = nullptr;
  };

  explicit Lender(Handle *handle = nullptr) noexcept : handle_(handle) {}
  Lender(Lender &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)), shared_(std::exchange(other.shared_, nullptr)) {}
  Lender &operator=(Lender &&other) noexcept {
    if (this != &other) {
      close();
      handle_ = std::exchange(other.handle_, nullptr);
      shared_ = std::exchange(other.shared_, nullptr);
    }
    return *this;
  }
  ~Lender() { close(); }
  Handle *get() const noexcept { return handle_; }

  // Lends what `take` takes; nothing where there is none.
  template <class Take>
  Lent lend(Take take) {
    if (!shared_ && handle_) shared_ = new Shared{handle_};
    if (!checked(take(handle_))) return Lent();
    shared_->is_lent = true;
    return Lent(shared_);
  }

 private:
  void close() noexcept {
    if (!shared_) {
      Close(handle_);
      return;
    }
    shared_->has_end = false;
    shared_->leave();
  }

  Handle *handle_;
  Shared *shared_ = nullptr;
};

}  // namespace detail
}  // namespace HORUS_MODE
}  // namespace horus

#endif

// Waiting for several topics at once.
#ifndef HORUS_CPP_WAIT_HPP
#define HORUS_CPP_WAIT_HPP

#include "topic.hpp"

namespace horus {
inline namespace HORUS_MODE {

// Waits until one of the subscribers has something to receive; gives its place among them, or nothing when the time is up.
template <class... Subscribers>
std::optional<std::size_t> wait_any(std::chrono::nanoseconds limit, Subscribers &...subscribers) {
  horus_subscriber *handles[] = {subscribers.handle()...};
  std::size_t ready = 0;
  const Outcome outcome = detail::checked(horus_wait_any(handles, sizeof...(subscribers), detail::limit_ns(limit), &ready));
  return outcome ? std::optional<std::size_t>(ready) : std::nullopt;
}

}  // namespace HORUS_MODE
}  // namespace horus

#endif

// Frames: sent by broadcasters, looked up at a time. docs/transforms.md is the guide.
#ifndef HORUS_CPP_TRANSFORM_HPP
#define HORUS_CPP_TRANSFORM_HPP

#include "topic.hpp"

namespace horus {
inline namespace HORUS_MODE {

// How a frame is moved and turned in another one: translation x, y, z in metres, rotation a unit quaternion x, y, z, w.
using Transform = horus_transform;

namespace detail {
// What is opened by a function of C.
template <class Opened, class Handle, class Open>
Result<Opened> opened_by(const Options &options, Open opens) {
  if (const char *why = misfit()) return Result<Opened>::refused(why);
  const horus_options raw = options.raw();
  Handle handle(opens(&raw));
  if (!handle.get()) return Result<Opened>::refused(horus_error());
  return Result<Opened>(Opened(std::move(handle)));
}
}  // namespace detail

// Sends where a moving frame is in its parent. The frame goes with this object.
class Broadcaster {
  using Handle = detail::Owned<horus_broadcaster, horus_broadcaster_close>;

 public:
  // Refused with a reason, as where another program sends the frame, or the tree would have a loop.
  static Result<Broadcaster> open(const std::string &parent, const std::string &child, const Options &options = {}) {
    return detail::opened_by<Broadcaster, Handle>(
        options, [&](const horus_options *raw) { return horus_broadcaster_open(parent.c_str(), child.c_str(), raw); });
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  Broadcaster(const std::string &parent, const std::string &child, const Options &options = {})
      : Broadcaster(open(parent, child, options).take()) {}
#endif
  explicit Broadcaster(Handle handle) noexcept : handle_(std::move(handle)) {}

  // Sends where the frame was at a time in ns on CLOCK_MONOTONIC, which is after that of the transform before.
  Outcome send(std::uint64_t time_ns, const Transform &transform) {
    return detail::checked(horus_broadcaster_send(handle_.get(), time_ns, &transform));
  }

 private:
  Handle handle_;
};

// Sends static frames, each once. They go with this object.
class StaticBroadcaster {
  using Handle = detail::Owned<horus_static_broadcaster, horus_static_broadcaster_close>;

 public:
  // Refused with a reason.
  static Result<StaticBroadcaster> open(const Options &options = {}) {
    return detail::opened_by<StaticBroadcaster, Handle>(options, horus_static_broadcaster_open);
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  explicit StaticBroadcaster(const Options &options = {}) : StaticBroadcaster(open(options).take()) {}
#endif
  explicit StaticBroadcaster(Handle handle) noexcept : handle_(std::move(handle)) {}

  // Adds a frame. When it is refused, the frames are as before.
  Outcome add(const std::string &parent, const std::string &child, const Transform &transform) {
    return detail::checked(horus_static_broadcaster_add(handle_.get(), parent.c_str(), child.c_str(), &transform));
  }
  // Adds the fixed joints of a URDF file, all of them or none.
  Outcome add_urdf(const std::string &path) {
    return detail::checked(horus_static_broadcaster_add_urdf(handle_.get(), path.c_str()));
  }

 private:
  Handle handle_;
};

// All frames of a namespace, to be looked up. Where a transform is not known it is an error, whose text says which frame is in the way.
class Frames {
  using Handle = detail::Owned<horus_frames, horus_frames_close>;

 public:
  // Refused with a reason. There need not be any frame yet.
  static Result<Frames> open(const Options &options = {}) {
    return detail::opened_by<Frames, Handle>(options, horus_frames_open);
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  explicit Frames(const Options &options = {}) : Frames(open(options).take()) {}
#endif
  explicit Frames(Handle handle) noexcept : handle_(std::move(handle)) {}

  // The frame `source` in the frame `target` at a time in ns on CLOCK_MONOTONIC. Makes no system call.
  Outcome at(const std::string &target, const std::string &source, std::uint64_t time_ns, Transform &found) {
    return detail::checked(horus_frames_at(handle_.get(), target.c_str(), source.c_str(), time_ns, &found));
  }
  // As `at`, at the latest time for which every frame between the two is known; that time is 0 where all of them are static.
  Outcome newest(const std::string &target, const std::string &source, Transform &found, std::uint64_t *time_ns = nullptr) {
    return detail::checked(horus_frames_newest(handle_.get(), target.c_str(), source.c_str(), time_ns, &found));
  }
  // As `at`, but waits until the transform is known. Not for a step of a node.
  Outcome wait(const std::string &target, const std::string &source, std::uint64_t time_ns, std::chrono::nanoseconds limit, Transform &found) {
    return detail::checked(
        horus_frames_wait(handle_.get(), target.c_str(), source.c_str(), time_ns, detail::limit_ns(limit), &found));
  }

 private:
  Handle handle_;
};

}  // namespace HORUS_MODE
}  // namespace horus

#endif

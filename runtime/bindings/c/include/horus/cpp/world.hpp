// The nodes of a program in virtual time, for its tests; and `main` of a program that is declared by a function.
#ifndef HORUS_CPP_WORLD_HPP
#define HORUS_CPP_WORLD_HPP

#include "node.hpp"

namespace horus {
inline namespace HORUS_MODE {
namespace detail {

// What a function that declares nodes is called with.
template <class F>
struct Declaring {
  F &declare;
  Steps &steps;

  static int call(horus_app *raw, void *context) noexcept {
    auto *self = static_cast<Declaring *>(context);
#ifndef HORUS_NO_EXCEPTIONS
    try {
      App app(raw, self->steps);
      self->declare(app);
    } catch (const std::exception &error) {
      (void)horus_app_refuse(raw, error.what());
    } catch (...) {
      (void)horus_app_refuse(raw, "an exception that is no std::exception");
    }
#else
    App app(raw, self->steps);
    self->declare(app);
#endif
    return HORUS_OK;
  }
};

using WorldHandle = Owned<horus_world, horus_world_close>;

}  // namespace detail

// `main` of a program whose nodes `declare(App &)` declares: what the nodes use, it gives to their lambdas.
template <class F>
int main(const char *name, F declare) {
  if (const char *why = detail::misfit()) {
    std::fprintf(stderr, "%s: %s\n", name, why);
    return 1;
  }
  detail::Steps steps;
  detail::Declaring<F> declaring{declare, steps};
  return horus_main(name, detail::Declaring<F>::call, &declaring);
}

// The same nodes, step by step, the same each time.
class World {
 public:
  using ns = std::chrono::nanoseconds;

  // The nodes that `declare(App &)` declares, before their first release. Refused with the reason why they would not run.
  template <class F>
  static Result<World> make(F declare) {
    return made(std::move(declare), [](horus_declare call, void *context) { return horus_world_new(call, context); });
  }
  // With the settings of a node.toml.
  template <class F>
  static Result<World> with_settings(const std::string &file, F declare) {
    return made(std::move(declare),
                [&](horus_declare call, void *context) { return horus_world_with_settings(file.c_str(), call, context); });
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `make`; what is refused is thrown as an Error.
  template <class F, class = std::enable_if_t<std::is_invocable_v<F &, App &>>>
  explicit World(F declare) : World(make(std::move(declare)).take()) {}
#endif

  // How much time has passed in the world.
  ns now() const { return ns(static_cast<std::int64_t>(horus_world_now_ns(world_.get()))); }
  // Lets so much time pass, in which the nodes run. An error when a step failed: its text is the step's.
  Outcome run_for(ns span) { return detail::checked(horus_world_run_for(world_.get(), detail::span_ns(span))); }

  // Publishes a message, as a program beside the world's nodes would.
  template <class T>
  Outcome publish(const char *topic, const T &message) {
    static_assert(!detail::is_bytes<T>, "a topic of bytes has the most that a message may have: publish(topic, maximum, message)");
    return detail::checked(horus_world_publish(world_.get(), topic, detail::layout<T>(), &message, sizeof(T)));
  }
  // Of a topic of Bytes, of up to `maximum` in a message.
  Outcome publish(const char *topic, std::size_t maximum, const Bytes &message) {
    const auto layout = detail::layout_of_bytes(maximum);
    return detail::checked(horus_world_publish(world_.get(), topic, layout.get(), message.data, message.size));
  }
  // The newest message of a topic, whichever node or test published it; nothing before the first.
  template <class T>
  std::optional<T> last(const char *topic) {
    static_assert(!detail::is_bytes<T>, "a topic of bytes has the most that a message may have: last<std::string>(topic, maximum)");
    std::optional<T> message(std::in_place);
    if (!detail::checked(horus_world_last(world_.get(), topic, detail::layout<T>(), &*message, sizeof(T), nullptr))) message.reset();
    return message;
  }
  // Of a topic of Bytes, of up to `maximum` in a message: in a std::string or a std::vector of them.
  template <class Into>
  std::optional<Into> last(const char *topic, std::size_t maximum) {
    static_assert(!detail::is_bytes<Into>, "Bytes are another object's: last<std::string>(topic, maximum)");
    const auto layout = detail::layout_of_bytes(maximum);
    detail::Room<Bytes> room(maximum);
    Received about = {};
    if (!detail::checked(horus_world_last(world_.get(), topic, layout.get(), room.at(), room.size(), &about))) return std::nullopt;
    room.holds(about);
    return Into(room.message()->begin(), room.message()->end());
  }

  // Sets a parameter of a node, as `horus param set` does; the node has it from its next step on.
  Outcome set_param(const char *node, const char *name, const Value &value) {
    return detail::checked(horus_world_set_param(world_.get(), node, name, &value));
  }

  // For so many cycles; 0 for ever.
  Outcome delay(const char *node, ns span, std::uint64_t cycles = 0) {
    return detail::checked(horus_world_delay(world_.get(), node, detail::span_ns(span), cycles));
  }
  // Has the steps of a node take so much time, for so many cycles; 0 for ever.
  Outcome takes(const char *node, ns span, std::uint64_t cycles = 0) {
    return detail::checked(horus_world_takes(world_.get(), node, detail::span_ns(span), cycles));
  }
  // Has the next so many messages on a topic come to none of the world's inputs.
  Outcome lose(const char *topic, std::uint64_t messages) { return detail::checked(horus_world_lose(world_.get(), topic, messages)); }

  // What was counted of a node.
  horus_tally tally(const char *node) {
    horus_tally tally = {};
    detail::expect(horus_world_tally(world_.get(), node, &tally));
    return tally;
  }
  // The entries that the nodes have written to the journal, the oldest first.
  std::vector<std::string> journal() {
    std::vector<std::string> entries;
    while (const char *entry = horus_world_journal(world_.get(), entries.size())) entries.emplace_back(entry);
    return entries;
  }

 private:
  template <class F, class Make>
  static Result<World> made(F declare, Make make) {
    if (const char *why = detail::misfit()) return Result<World>::refused(why);
    auto steps = std::make_unique<detail::Steps>();
    detail::Declaring<F> declaring{declare, *steps};
    detail::WorldHandle handle(make(detail::Declaring<F>::call, &declaring));
    if (!handle.get()) return Result<World>::refused(horus_error());
    return Result<World>(World(std::move(steps), std::move(handle)));
  }
  World(std::unique_ptr<detail::Steps> steps, detail::WorldHandle world) : steps_(std::move(steps)), world_(std::move(world)) {}
  // Before the world, because it is destroyed last: the world's nodes call them.
  std::unique_ptr<detail::Steps> steps_;
  detail::WorldHandle world_;
};

}  // namespace HORUS_MODE
}  // namespace horus

#endif

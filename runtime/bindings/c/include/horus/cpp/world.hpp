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
  template <class F, class = std::enable_if_t<std::is_invocable_v<F &, App &>>>
  explicit World(F declare) : World(make(std::move(declare)).take()) {}
#endif

  ns now() const { return ns(static_cast<std::int64_t>(horus_world_now_ns(world_.get()))); }
  Outcome run_for(ns span) { return detail::checked(horus_world_run_for(world_.get(), detail::span_ns(span))); }

  template <class T>
  Outcome publish(const char *topic, const T &message) {
    return detail::checked(horus_world_publish(world_.get(), topic, detail::layout<T>(), &message, sizeof(T)));
  }
  template <class T>
  std::optional<T> last(const char *topic) {
    std::optional<T> message(std::in_place);
    if (!detail::checked(horus_world_last(world_.get(), topic, detail::layout<T>(), &*message, sizeof(T)))) message.reset();
    return message;
  }

  // For so many cycles; 0 for ever.
  Outcome delay(const char *node, ns span, std::uint64_t cycles = 0) {
    return detail::checked(horus_world_delay(world_.get(), node, detail::span_ns(span), cycles));
  }
  Outcome takes(const char *node, ns span, std::uint64_t cycles = 0) {
    return detail::checked(horus_world_takes(world_.get(), node, detail::span_ns(span), cycles));
  }
  Outcome lose(const char *topic, std::uint64_t messages) { return detail::checked(horus_world_lose(world_.get(), topic, messages)); }

  horus_tally tally(const char *node) {
    horus_tally tally = {};
    detail::expect(horus_world_tally(world_.get(), node, &tally));
    return tally;
  }
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

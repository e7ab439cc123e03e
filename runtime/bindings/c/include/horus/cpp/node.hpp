// A program of nodes: lambdas that are called once a cycle, with what they promise and ask for.
#ifndef HORUS_CPP_NODE_HPP
#define HORUS_CPP_NODE_HPP

#include <memory>

#include "action.hpp"
#include "kept.hpp"
#include "log.hpp"
#include "param.hpp"
#include "service.hpp"
#include "topic.hpp"

namespace horus {
inline namespace HORUS_MODE {

// What a step is told about its cycle. Times are those of CLOCK_MONOTONIC.
class Cycle {
 public:
  explicit Cycle(const horus_cycle *raw) noexcept : raw_(raw) {}
  // Counts the releases; one that was skipped uses up its number.
  std::uint64_t number() const noexcept { return raw_->number; }
  // The point of the grid, or the time of the event: what control laws use.
  std::chrono::nanoseconds release() const noexcept { return time(raw_->release_ns); }
  // When the loop was running again.
  std::chrono::nanoseconds wake() const noexcept { return time(raw_->wake_ns); }
  // When the work must be done.
  std::chrono::nanoseconds deadline() const noexcept { return time(raw_->deadline_ns); }
  // Has a line written to the journal by a thread beside the loop: cycle.log(horus::Level::warn, "wheel {} slips by {:.2} m", wheel, slip). Here its
  // text and values are copied alone. A line that finds no room is counted and told. So is a text that does not fit its values: an error in the
  // journal, in place of the line.
  template <class... Values>
  void log(Level level, const char *text, const Values &...values) const noexcept {
    static_assert(sizeof...(Values) <= 8, "a line has up to 8 values: log two lines");
    const horus_log_value given[sizeof...(Values) + 1] = {detail::log_value(values)..., {}};
    horus_cycle_log(raw_, static_cast<horus_level>(level), text, given, sizeof...(Values));
  }
  // The node cannot go on: its program ends with this reason when the step returns. An exception does the same.
  void fail(const char *why) const noexcept { horus_cycle_fail(raw_, why); }

 private:
  static std::chrono::nanoseconds time(std::uint64_t ns) noexcept { return std::chrono::nanoseconds(static_cast<std::int64_t>(ns)); }
  const horus_cycle *raw_;
};

namespace detail {

using KeptInput = Kept<horus_input, horus_input_keep, horus_input_let_go>;
using KeptOutput = Kept<horus_output, horus_output_keep, horus_output_let_go>;
using KeptNode = Kept<horus_node, horus_node_keep, horus_node_let_go>;

}  // namespace detail

// What a node reads: messages T, or Bytes. Only steps of the node use it; after the program has ended that is an error.
template <class T>
class Input {
 public:
  explicit Input(horus_input *input, detail::Room<T> room = detail::Room<T>()) : input_(input), room_(std::move(room)) {}

  // The newest message, however old it is; null before the first. Bytes last until the next look.
  const T *latest() {
    if (!is_behind_) {
      fresh();
    } else {
      has_ |= bool(look(horus_input_latest));
      is_behind_ = false;
    }
    return has_ ? room_.message() : nullptr;
  }
  // The newest message, if it came since the last look.
  const T *fresh() {
    const bool came = bool(look(horus_input_fresh));
    has_ |= came;
    return came ? room_.message() : nullptr;
  }
  // The oldest message that was not read yet, each once: a T into a T, and bytes into a std::string or a std::vector of them, which may allocate.
  template <class Into = T>
  Outcome next(Into &into, Received *about = nullptr) {
    if constexpr (detail::is_bytes<T>) {
      Received told = {};
      const Outcome outcome = take(told);
      if (!outcome) return outcome;
      into.assign(room_.message()->begin(), room_.message()->end());
      if (about) *about = told;
      return outcome;
    } else {
      T &message = into;
      const Outcome outcome = detail::checked(horus_input_next(input_.get(), &message, sizeof(T), about));
      is_behind_ |= bool(outcome);
      return outcome;
    }
  }
  // The messages that were not read yet, each once, the oldest first; none is allocated for. One lasts until the next, or any other look:
  // for (const auto &message : imu.messages()) …
  class Messages {
   public:
    // Reads one message after the other.
    class Iterator {
     public:
      explicit Iterator(Input *input) : input_(input) { ++*this; }
      // The message that was read last.
      const T &operator*() const noexcept { return *input_->room_.message(); }
      // Reads the next one.
      Iterator &operator++() {
        has_ = left_ > 0 && bool(input_->take(input_->about_));
        left_ -= has_;
        return *this;
      }
      // Whether there is one.
      bool operator!=(std::nullptr_t) const noexcept { return has_; }

     private:
      Input *input_;
      // As in Rust: a publisher that goes on sending does not keep a step from its end.
      int left_ = 4096;
      bool has_ = false;
    };
    explicit Messages(Input *input) noexcept : input_(input) {}
    // Reads the first one.
    Iterator begin() { return Iterator(input_); }
    // Where no message is left.
    std::nullptr_t end() const noexcept { return nullptr; }

   private:
    Input *input_;
  };
  // All of them that were not read yet.
  Messages messages() noexcept { return Messages(this); }
  // What is known of the message that `latest`, `fresh` or `messages` gave last.
  const Received &about() const noexcept { return about_; }
  // How long ago that one was sent; nothing before the first, and where its publisher stamps none. Every output stamps.
  std::optional<std::chrono::nanoseconds> age(const Cycle &cycle) const {
    if (!has_ || about_.sent_ns == 0) return std::nullopt;
    const auto sent = std::chrono::nanoseconds(static_cast<std::int64_t>(about_.sent_ns));
    return cycle.release() > sent ? cycle.release() - sent : std::chrono::nanoseconds(0);
  }
  // How many messages were overwritten before they were read.
  std::uint64_t missed() { return horus_input_missed(input_.get()); }

 private:
  // Looks by a function of C.
  Outcome look(horus_status (*by)(horus_input *, void *, std::size_t, Received *)) {
    const Outcome outcome = detail::checked(by(input_.get(), room_.at(), room_.size(), &about_));
    if (outcome) room_.holds(about_);
    return outcome;
  }
  // Takes the oldest message to where the newest one is kept.
  Outcome take(Received &about) {
    const Outcome outcome = detail::checked(horus_input_next(input_.get(), room_.at(), room_.size(), &about));
    if (outcome) room_.holds(about);
    is_behind_ |= bool(outcome);
    return outcome;
  }
  detail::KeptInput input_;
  detail::Room<T> room_;
  Received about_ = {};
  bool has_ = false;
  // Whether messages were taken since the newest one was put into the room.
  bool is_behind_ = false;
};

// What an output did not publish, by its cause.
using Lost = horus_lost;

// What a node writes; as an input.
template <class T>
class Output {
 public:
  explicit Output(horus_output *output) noexcept : output_(output) {}
  // Publishes the message when the step returns; false when it is not taken, because there is no room for it: a subscriber of a reliable topic has
  // yet to read, or the step has set as many messages as the topic holds. Those before it stay, and `lost` counts this one. More bytes than the
  // topic's maximum are an error.
  bool set(const T &message) {
    const Bytes sent = detail::as_sent(message);
    return bool(detail::checked(horus_output_set(output_.get(), sent.data, sent.size)));
  }
  // What was set on this output and not published, by its cause, since the program began.
  Lost lost() const {
    Lost lost = {};
    (void)detail::checked(horus_output_lost(output_.get(), &lost));
    return lost;
  }

 private:
  detail::KeptOutput output_;
};

namespace detail {

struct AnyStep {
  virtual ~AnyStep() = default;
};
using Steps = std::vector<std::unique_ptr<AnyStep>>;

// Calls a lambda for C: what it throws, the node fails with.
template <class F>
void call_step(F &step, const horus_cycle *raw) noexcept {
  const Cycle cycle(raw);
  const auto run = [&] {
    if constexpr (std::is_invocable_v<F &, const Cycle &>)
      step(cycle);
    else
      step();
  };
#ifndef HORUS_NO_EXCEPTIONS
  try {
    run();
  } catch (const std::exception &error) {
    cycle.fail(error.what());
  } catch (...) {
    cycle.fail("an exception that is no std::exception");
  }
#else
  run();
#endif
}

template <class F>
struct Step : AnyStep {
  explicit Step(F given) : step(std::move(given)) {}
  F step;
  static void call(void *self, const horus_cycle *cycle) noexcept { call_step(static_cast<Step *>(self)->step, cycle); }
};

// C gives both functions the same pointer.
template <class F, class G>
struct StepAndSafeState : Step<F> {
  StepAndSafeState(F given, G safe) : Step<F>(std::move(given)), safe_state(std::move(safe)) {}
  G safe_state;
  static void call(void *self, const horus_cycle *cycle) noexcept { call_step(static_cast<StepAndSafeState *>(self)->step, cycle); }
  static void call_safe(void *self, const horus_cycle *cycle) noexcept {
    call_step(static_cast<StepAndSafeState *>(self)->safe_state, cycle);
  }
};

// What it throws ends the process: there is no node that could fail with it.
template <class F>
struct Background : AnyStep {
  explicit Background(F given) : work(std::move(given)) {}
  F work;
  static void call(void *self, std::uint64_t now_ns) noexcept {
    const auto now = now_ns > std::uint64_t(INT64_MAX) ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(std::int64_t(now_ns));
    static_cast<Background *>(self)->work(now);
  }
};

}  // namespace detail

// What a node asks for; node.toml has the last word.
class Node {
 public:
  using ns = std::chrono::nanoseconds;
  explicit Node(horus_node *node) noexcept : node_(node) {}

  // Releases it once a period, on the grid that all nodes of the machine with this period share.
  Node &period(ns span) { return noted(horus_node_period_ns(node_.get(), detail::span_ns(span))); }
  // Times a second.
  Node &rate(double hertz) { return period(ns(hertz > 0 ? static_cast<std::int64_t>(1e9 / hertz + 0.5) : 0)); }
  // Moves its grid by so much against that of other nodes.
  Node &phase(ns span) { return noted(horus_node_phase_ns(node_.get(), detail::span_ns(span))); }
  // Releases it when a message comes on this topic, which is one of its inputs.
  Node &on(const char *topic) { return noted(horus_node_on(node_.get(), topic)); }
  // The minimum inter-arrival time: the shortest between two releases by events. An event that comes sooner is served at its end.
  Node &min_inter_arrival(ns span) { return noted(horus_node_min_inter_arrival_ns(node_.get(), detail::span_ns(span))); }
  // The CPU time that a cycle may take.
  Node &budget(ns span) { return noted(horus_node_budget_ns(node_.get(), detail::span_ns(span))); }
  // The time from release to completion that counts as in time; the period if not said otherwise.
  Node &deadline(ns span) { return noted(horus_node_deadline_ns(node_.get(), detail::span_ns(span))); }
  // How long nothing may come on an input until it is stale, and the journal says so; 100 periods and 1 s at least if not said otherwise.
  Node &stale_after(ns span) { return noted(horus_node_stale_after_ns(node_.get(), detail::span_ns(span))); }
  // As `stale_after`, for the input of one topic; the others keep theirs.
  Node &stale_after_of(const char *topic, ns span) { return noted(horus_node_stale_after_of_ns(node_.get(), topic, detail::span_ns(span))); }
  // How long after its release a cycle may be under way before the monitor publishes what is safe: from the deadline to 100 periods, or 1 s where
  // that is longer. The node has a period and reacts by its safe state.
  Node &monitor_limit(ns span) { return noted(horus_node_monitor_limit_ns(node_.get(), detail::span_ns(span))); }
  // The CPU that it runs on: "isolated", "isolated:1", "housekeeping", "2", "2-3".
  Node &cpu(const char *which) { return noted(horus_node_cpu(node_.get(), which)); }
  // The scheduling policy by which the kernel chooses it: "fifo:80", "rr:80", "deadline", "other".
  Node &scheduling_policy(const char *which) { return noted(horus_node_scheduling_policy(node_.get(), which)); }
  // Logical execution time: its inputs are those of its release, and its outputs are those of its deadline.
  Node &logical_execution_time() { return noted(horus_node_logical_execution_time(node_.get())); }
  // What becomes of misses, from the `after`-th one within `within` releases; `within` 0 for all of them in a row.
  Node &on_miss(horus_reaction reaction, std::uint32_t after = 1, std::uint32_t within = 0) {
    return noted(horus_node_on_miss(node_.get(), reaction, after, within));
  }
  // As `on_miss`: from then on, one release of `every` is served.
  Node &degrade(std::uint32_t every, std::uint32_t after = 1, std::uint32_t within = 0) {
    return noted(horus_node_degrade(node_.get(), every, after, within));
  }

 private:
  // What is refused, the program says when it is run; so nothing has to be looked at here.
  Node &noted(horus_status) { return *this; }
  detail::KeptNode node_;
};

// A program of nodes. What goes wrong while it is declared, `run` says.
class App {
 public:
  // A program without nodes. It has the settings of node.toml and the options of every program of nodes.
  explicit App(const std::string &name) : app_(nullptr), is_own_(true) {
    detail::require_fit();
    app_ = horus_app_new(name.c_str());
  }
  // One that `declare` of a world or of `main` was given; its steps are kept in `steps`.
  App(horus_app *app, detail::Steps &steps) : app_(app), is_own_(false), steps_(&steps) {}
  App(const App &) = delete;
  App &operator=(const App &) = delete;
  ~App() {
    if (is_own_) horus_app_close(app_);
  }

  // An input of the next node. The topic need not be there yet.
  template <class T>
  Input<T> input(const std::string &topic) {
    return Input<T>(horus_app_input(app_, topic.c_str(), layout<T>(), nullptr));
  }
  template <class T>
  Input<T> input(const std::string &topic, const Options &options) {
    const horus_options raw = options.raw();
    return Input<T>(horus_app_input(app_, topic.c_str(), layout<T>(), &raw));
  }
  // Of Bytes: for messages of up to `maximum` bytes.
  template <class T, class = std::enable_if_t<detail::is_bytes<T>>>
  Input<T> input(const std::string &topic, std::size_t maximum, const Options &options = {}) {
    const horus_options raw = options.raw();
    horus_input *input = horus_app_input(app_, topic.c_str(), detail::layout_of_bytes(maximum).get(), &raw);
    return Input<T>(input, detail::Room<T>(maximum));
  }
  // An output of the next node, of a latest topic that holds 16 messages unless the options say otherwise.
  template <class T>
  Output<T> output(const std::string &topic) {
    return Output<T>(horus_app_output(app_, topic.c_str(), layout<T>(), nullptr));
  }
  template <class T>
  Output<T> output(const std::string &topic, const Options &options) {
    const horus_options raw = options.raw();
    return Output<T>(horus_app_output(app_, topic.c_str(), layout<T>(), &raw));
  }
  // Of Bytes: for messages of up to `maximum` bytes.
  template <class T, class = std::enable_if_t<detail::is_bytes<T>>>
  Output<T> output(const std::string &topic, std::size_t maximum, const Options &options = {}) {
    const horus_options raw = options.raw();
    return Output<T>(horus_app_output(app_, topic.c_str(), detail::layout_of_bytes(maximum).get(), &raw));
  }

  // A parameter of the next node, with its default: a bool, a number or a text. Other programs set it while this one runs, and all that a step
  // reads of its parameters is of one set.
  template <class T>
  Param<detail::ParamOf<T>> param(const std::string &name, T value, const ParamOptions &options = {}) {
    const Value given(value);
    const horus_param_wishes raw = options.raw();
    return Param<detail::ParamOf<T>>(horus_app_param(app_, name.c_str(), &given, &raw));
  }
  // Has the members of a group alone set the parameters, if node.toml names no other one.
  void param_group(const std::string &group) { (void)horus_app_param_group(app_, group.c_str()); }

  // Adds a node, which has the inputs and outputs that were opened since the last one.
  template <class F>
  Node node(const std::string &name, F step) {
    auto *kept = keep(std::move(step));
    return Node(horus_app_node(app_, name.c_str(), detail::Step<F>::call, kept));
  }
  // As above, with what keeps the robot safe in place of a step.
  template <class F, class G>
  Node node(const std::string &name, F step, G safe_state) {
    using Both = detail::StepAndSafeState<F, G>;
    auto kept = std::make_unique<Both>(std::move(step), std::move(safe_state));
    horus_node *node = horus_app_node(app_, name.c_str(), Both::call, kept.get());
    (void)horus_node_safe_state(node, Both::call_safe);
    steps_->push_back(std::move(kept));
    return Node(node);
  }

  // Adds a node that serves `service`, and has its name: `handler` answers each request, as that of Server::serve, in a cycle that the request
  // releases. Inputs and outputs that were opened before are this node's, too.
  template <class Q, class A, class F>
  Node service(const std::string &service, F handler, const Options &options = {}) {
    return serves<Q, A>(service, 0, 0, std::move(handler), options);
  }
  // With the most bytes of a request and of an answer, where one of them is Bytes; 0 for a struct.
  template <class Q, class A, class F>
  Node service(const std::string &service, std::size_t request, std::size_t answer, F handler, const Options &options = {}) {
    return serves<Q, A>(service, request, answer, std::move(handler), options);
  }
  // The answering end of a service, for the next node, which serves it among its other work: `.on(service)` releases it by requests.
  template <class Q, class A>
  Server<Q, A> server(const std::string &service, const Options &options = {}) {
    return this->template server<Q, A>(service, 0, 0, options);
  }
  template <class Q, class A>
  Server<Q, A> server(const std::string &service, std::size_t request, std::size_t answer, const Options &options = {}) {
    return Server<Q, A>(detail::ServerEnd(opened<Q, A>(horus_app_server, service, request, answer, options), false), request);
  }
  // The asking end of a service, for the next node: it asks in one step, and looks for the answer in a later one.
  template <class Q, class A>
  Client<Q, A> client(const std::string &service, const Options &options = {}) {
    return this->template client<Q, A>(service, 0, 0, options);
  }
  template <class Q, class A>
  Client<Q, A> client(const std::string &service, std::size_t request, std::size_t answer, const Options &options = {}) {
    return Client<Q, A>(detail::ClientEnd(opened<Q, A>(horus_app_client, service, request, answer, options), false), answer);
  }

  // The end of an action that works on goals, for the next node: its steps ask for the goal that runs. `.on("ACTION.goal")` releases a node by goals.
  template <class G, class F, class R>
  ActionServer<G, F, R> action(const std::string &action, Preemption policy = Preemption::refuse, const Options &options = {}) {
    std::string why;
    const auto by = [&](const char *name, horus_layout *goal, horus_layout *feedback, horus_layout *result, const horus_options *raw) {
      return horus_app_action_server(app_, name, goal, feedback, result, static_cast<horus_preemption>(policy), raw);
    };
    horus_action_server *server = detail::opened_action<G, F, R>(by, action, options, why);
    if (!server) (void)horus_app_refuse(app_, why.c_str());
    return ActionServer<G, F, R>(detail::ActionServerEnd(server, false));
  }
  // The end of an action that sends goals, for the next node: it sends in one step, and looks in later ones.
  template <class G, class F, class R>
  ActionClient<G, F, R> action_client(const std::string &action, const Options &options = {}) {
    std::string why;
    const auto by = [&](const char *name, horus_layout *goal, horus_layout *feedback, horus_layout *result, const horus_options *raw) {
      return horus_app_action_client(app_, name, goal, feedback, result, raw);
    };
    horus_action_client *client = detail::opened_action<G, F, R>(by, action, options, why);
    if (!client) (void)horus_app_refuse(app_, why.c_str());
    return ActionClient<G, F, R>(detail::ActionClientEnd(client, false));
  }

  // Names nodes that hand data on to each other, and the longest time from the first one's release to the last one's completion.
  void chain(std::initializer_list<const char *> nodes, std::chrono::nanoseconds end_to_end) {
    (void)horus_app_chain(app_, nodes.begin(), nodes.size(), detail::span_ns(end_to_end));
  }
  // Ends the program after so many releases of each node.
  void releases(std::uint64_t count) { (void)horus_app_releases(app_, count); }
  // Does not start unless the system grants everything that a node asks for.
  void strict() { (void)horus_app_strict(app_); }
  // Has a second SIGTERM or SIGINT within this time of the first one change nothing; 1 s if neither this nor node.toml says otherwise.
  void grace(std::chrono::nanoseconds span) { (void)horus_app_grace_ns(app_, detail::span_ns(span)); }
  // Of each thread of nodes, in bytes; all of it is locked.
  void stack(std::size_t bytes) { (void)horus_app_stack(app_, bytes); }
  // Adds work for the thread beside the loops, which has no deadline: it is called ten times a second with the time, and a last time at the end.
  template <class F>
  void background(F work) {
    auto kept = std::make_unique<detail::Background<F>>(std::move(work));
    (void)horus_app_background(app_, detail::Background<F>::call, kept.get());
    steps_->push_back(std::move(kept));
  }

  // Runs the nodes; gives what main returns, and prints why when it is not 0.
  int run() {
    is_own_ = false;
    return horus_app_run(std::exchange(app_, nullptr));
  }
  // In this thread, as fast as it can: for meters of the loop's own cost.
  Outcome run_in_place(std::uint64_t releases) {
    is_own_ = false;
    return detail::checked(horus_app_run_in_place(std::exchange(app_, nullptr), releases));
  }

 private:
  // All requests that wait, and no more: a client that asks without end must not hold the step.
  static constexpr int most_requests = 64 * 16;
  template <class Q, class A, class F>
  Node serves(const std::string &service, std::size_t request, std::size_t answer, F handler, const Options &options) {
    auto end = server<Q, A>(service, request, answer, options);
    auto step = [end = std::move(end), handler = std::move(handler)](const Cycle &) mutable {
      for (int left = most_requests; left > 0 && end.serve(handler); left--) {
      }
    };
    return node(service, std::move(step)).on(service.c_str());
  }
  // What is refused here, the program says when it is run.
  template <class Q, class A, class Open>
  auto opened(Open open, const std::string &service, std::size_t request, std::size_t answer, const Options &options) {
    std::string why;
    const auto by_app = [&](const char *name, horus_layout *of_request, horus_layout *of_answer, const horus_options *raw) {
      return open(app_, name, of_request, of_answer, raw);
    };
    const auto end = detail::opened_service<Q, A>(by_app, service, request, answer, options, why);
    if (!end) (void)horus_app_refuse(app_, why.c_str());
    return end;
  }
  // A message that has no layout is why the program does not run.
  template <class T>
  horus_layout *layout() {
    static_assert(!detail::is_bytes<T>, "bytes are opened with the most that a message may have: (topic, maximum)");
    const detail::MadeLayout &made = detail::made_layout<T>();
    if (!made.handle.get()) (void)horus_app_refuse(app_, made.why.c_str());
    return made.handle.get();
  }

  template <class F>
  detail::Step<F> *keep(F step) {
    auto kept = std::make_unique<detail::Step<F>>(std::move(step));
    auto *pointer = kept.get();
    steps_->push_back(std::move(kept));
    return pointer;
  }

  horus_app *app_;
  bool is_own_;
  detail::Steps own_steps_;
  detail::Steps *steps_ = &own_steps_;
};

}  // namespace HORUS_MODE
}  // namespace horus

#endif

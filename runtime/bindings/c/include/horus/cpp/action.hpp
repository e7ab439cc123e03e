// Actions: a program sends a goal, hears how far it is, and what came of it; outside of nodes and in them.
#ifndef HORUS_CPP_ACTION_HPP
#define HORUS_CPP_ACTION_HPP

#include <cstring>

#include "kept.hpp"
#include "topic.hpp"

namespace horus {
inline namespace HORUS_MODE {
namespace detail {

using ActionServerEnd = MaybeOwned<horus_action_server, horus_action_server_keep, horus_action_server_let_go, horus_action_server_close>;
using ActionClientEnd = MaybeOwned<horus_action_client, horus_action_client_keep, horus_action_client_let_go, horus_action_client_close>;

// Calls a function of C with the layouts of an action; null, and the reason, where it is refused.
template <class G, class F, class R, class Open>
auto opened_action(Open open, const std::string &action, const Options &options, std::string &why)
    -> decltype(open(action.c_str(), nullptr, nullptr, nullptr, nullptr)) {
  static_assert(!is_bytes<G> && !is_bytes<F> && !is_bytes<R>, "goals, feedbacks and results are structs");
  if (const char *misfits = misfit()) return why = misfits, nullptr;
  const MadeLayout *made[] = {&made_layout<G>(), &made_layout<F>(), &made_layout<R>()};
  for (const MadeLayout *layout : made)
    if (!layout->handle.get()) return why = layout->why, nullptr;
  const horus_options raw = options.raw();
  const auto handle = open(action.c_str(), made[0]->handle.get(), made[1]->handle.get(), made[2]->handle.get(), &raw);
  if (!handle) why = horus_error();
  return handle;
}

}  // namespace detail

// What a goal is known by: 16 bytes, as ROS 2's UUID.
using GoalId = horus_goal_id;

// What becomes of a goal that comes while another one runs.
enum class Preemption : horus_preemption {
  // The new one is rejected.
  refuse = HORUS_GOAL_REFUSE,
  // It is accepted, and waits until its turn comes.
  queue = HORUS_GOAL_QUEUE,
  // It takes the place of the other, which is aborted, or ends as canceled if it is canceling.
  replace = HORUS_GOAL_REPLACE,
};

// A goal that runs, from the side of the server. It stays the one that runs until it is ended.
template <class G, class F, class R>
class Goal {
 public:
  // One that a server has given.
  Goal(const detail::ActionServerEnd::Keeper &server, const horus_goal &about, const G &value) : server_(server), about_(about), value_(value) {}
  // What is to be reached.
  const G &value() const noexcept { return value_; }
  // What it is known by.
  const GoalId &id() const noexcept { return about_.id; }
  // Whether the program is handed the goal for the first time.
  bool is_new() const noexcept { return about_.is_new != 0; }
  // Whether it was to be canceled when it was given: then end it by `canceled`, as soon as what moves stands.
  bool is_canceling() const noexcept { return about_.status == HORUS_GOAL_CANCELING; }
  // What C knows of it.
  const horus_goal &about() const noexcept { return about_; }
  // Tells how far it is.
  void feedback(const F &feedback) { (void)detail::checked(horus_action_server_feedback(server_.get(), &about_.id, &feedback, sizeof(F))); }
  // Ends it: it was reached. False when its client was not told, because it does not look.
  bool succeed(const R &result) { return bool(detail::checked(horus_action_server_succeed(server_.get(), &about_.id, &result, sizeof(R)))); }
  // Ends it: it was canceled.
  bool canceled() { return bool(detail::checked(horus_action_server_canceled(server_.get(), &about_.id, nullptr, 0))); }
  // With what was reached by then.
  bool canceled(const R &result) { return bool(detail::checked(horus_action_server_canceled(server_.get(), &about_.id, &result, sizeof(R)))); }
  // Ends it: the program gives it up, for a reason of up to 92 bytes.
  bool abort(const char *why) { return bool(detail::checked(horus_action_server_abort(server_.get(), &about_.id, nullptr, 0, why))); }
  // With what was reached by then.
  bool abort(const char *why, const R &result) {
    return bool(detail::checked(horus_action_server_abort(server_.get(), &about_.id, &result, sizeof(R), why)));
  }

 private:
  detail::ActionServerEnd::Keeper server_;
  horus_goal about_;
  G value_;
};

// The end of an action that works on goals G, tells feedbacks F, and ends each goal with a result R. There is one at a time.
template <class G, class F, class R>
class ActionServer {
 public:
  using ns = std::chrono::nanoseconds;

  // Becomes the server; refused with the reason while another one lives.
  static Result<ActionServer> open(const std::string &action, Preemption policy = Preemption::refuse, const Options &options = {}) {
    std::string why;
    const auto by = [policy](const char *name, horus_layout *goal, horus_layout *feedback, horus_layout *result, const horus_options *raw) {
      return horus_action_server_open(name, goal, feedback, result, static_cast<horus_preemption>(policy), raw);
    };
    horus_action_server *server = detail::opened_action<G, F, R>(by, action, options, why);
    if (!server) return Result<ActionServer>::refused(why);
    return Result<ActionServer>(ActionServer(detail::ActionServerEnd(server, true)));
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  explicit ActionServer(const std::string &action, Preemption policy = Preemption::refuse, const Options &options = {})
      : ActionServer(open(action, policy, options).take()) {}
#endif
  // One that App::action has opened.
  explicit ActionServer(detail::ActionServerEnd end) : end_(std::move(end)) {}

  // Takes in what came, and gives the goal that runs; nothing when none does. Waits for one at most so long, and not in a node.
  std::optional<Goal<G, F, R>> goal(ns limit = ns(0)) {
    G value = {};
    horus_goal about = {};
    const Outcome came = detail::checked(horus_action_server_goal(end_.get(), &value, sizeof(G), &about, detail::limit_ns(limit)));
    if (!came) return std::nullopt;
    return Goal<G, F, R>(end_.keeper(), about, value);
  }

 private:
  detail::ActionServerEnd end_;
};

// News of a goal.
template <class F, class R>
struct Progress {
  // What C says: HORUS_NEWS_ACCEPTED, HORUS_NEWS_FEEDBACK or HORUS_NEWS_ENDED, and how the goal ended; 0 when there is nothing new.
  horus_progress told = {};
  // How far it is, where the news is a feedback.
  F feedback = {};
  // What it came to, where it has ended and `has_result` says so.
  R result = {};
  // Whether there is any.
  explicit operator bool() const noexcept { return told.news != 0; }
  // Whether it was accepted.
  bool is_accepted() const noexcept { return told.news == HORUS_NEWS_ACCEPTED; }
  // Whether it is a feedback.
  bool is_feedback() const noexcept { return told.news == HORUS_NEWS_FEEDBACK; }
  // Whether the goal has ended.
  bool has_ended() const noexcept { return told.news == HORUS_NEWS_ENDED; }
  // Whether it has ended because it was reached.
  bool has_succeeded() const noexcept { return has_ended() && told.status == HORUS_GOAL_SUCCEEDED; }
};

// The end of an action that sends goals. It may come before its server.
template <class G, class F, class R>
class ActionClient {
 public:
  using ns = std::chrono::nanoseconds;

  // Becomes a client; refused with the reason.
  static Result<ActionClient> open(const std::string &action, const Options &options = {}) {
    std::string why;
    horus_action_client *client = detail::opened_action<G, F, R>(horus_action_client_open, action, options, why);
    if (!client) return Result<ActionClient>::refused(why);
    return Result<ActionClient>(ActionClient(detail::ActionClientEnd(client, true)));
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  explicit ActionClient(const std::string &action, const Options &options = {}) : ActionClient(open(action, options).take()) {}
#endif
  // One that App::action_client has opened.
  explicit ActionClient(detail::ActionClientEnd end) : end_(std::move(end)) {}

  // Sends a goal, and does not wait: `look` asks what becomes of it.
  Outcome send(const G &goal, GoalId &id) { return detail::checked(horus_action_client_send(end_.get(), &goal, sizeof(G), &id)); }
  // What there is to tell of a goal, without waiting: first that it was accepted, then its feedbacks, at last its outcome, with which it is over. A goal
  // without an outcome is an error with the status of its reason: HORUS_GOAL_REJECTED, HORUS_CALL_DIED, HORUS_CALL_STOPPED.
  Outcome look(const GoalId &id, Progress<F, R> &progress) {
    progress.told = {};
    return detail::checked(
        horus_action_client_look(end_.get(), &id, &progress.feedback, sizeof(F), &progress.result, sizeof(R), &progress.told));
  }
  // Asks for a goal to be canceled, any client's: its outcome says what became of it.
  Outcome cancel(const GoalId &id) { return detail::checked(horus_action_client_cancel(end_.get(), &id)); }
  // Waits for news of goals, at most so long.
  Outcome wait(ns limit) { return detail::checked(horus_action_client_wait(end_.get(), detail::limit_ns(limit))); }
  // Whether the server lives; if not, all goals that are not over end. Makes system calls.
  bool check_server() { return bool(detail::checked(horus_action_client_check_server(end_.get()))); }
  // Waits, at most so long, until a living program serves it.
  bool wait_until_served(ns limit) { return bool(detail::checked(horus_action_client_wait_until_served(end_.get(), detail::limit_ns(limit)))); }

 private:
  detail::ActionClientEnd end_;
};

}  // namespace HORUS_MODE
}  // namespace horus

#endif

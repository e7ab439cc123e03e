// Services: a program asks, and one server answers; outside of nodes and in them.
#ifndef HORUS_CPP_SERVICE_HPP
#define HORUS_CPP_SERVICE_HPP

#include "kept.hpp"
#include "topic.hpp"

namespace horus {
inline namespace HORUS_MODE {
namespace detail {

using ServerEnd = MaybeOwned<horus_server, horus_server_keep, horus_server_let_go, horus_server_close>;
using ClientEnd = MaybeOwned<horus_client, horus_client_keep, horus_client_let_go, horus_client_close>;

// The layout of requests or answers: that of a struct, or of bytes up to a maximum.
template <class T>
struct LayoutFor {
  explicit LayoutFor(std::size_t maximum) {
    if constexpr (is_bytes<T>) {
      own = layout_of_bytes(maximum);
      at = own.get();
    } else {
      const MadeLayout &made = made_layout<T>();
      at = made.handle.get();
      why = made.why;
    }
  }
  Owned<horus_layout, horus_layout_close> own;
  horus_layout *at = nullptr;
  std::string why;
};

template <class T>
Room<T> room_for(std::size_t maximum) {
  if constexpr (is_bytes<T>)
    return Room<T>(maximum);
  else
    return Room<T>();
}

// Opens an end by a function of C; null, and the reason, where it is refused.
template <class Q, class A, class Open>
auto opened_service(Open open, const std::string &service, std::size_t request, std::size_t answer, const Options &options, std::string &why)
    -> decltype(open(service.c_str(), nullptr, nullptr, nullptr)) {
  if (const char *misfits = misfit()) return why = misfits, nullptr;
  const LayoutFor<Q> of_request(request);
  const LayoutFor<A> of_answer(answer);
  if (!of_request.at || !of_answer.at) return why = of_request.at ? of_answer.why : of_request.why, nullptr;
  const horus_options raw = options.raw();
  const auto handle = open(service.c_str(), of_request.at, of_answer.at, &raw);
  if (!handle) why = horus_error();
  return handle;
}

// Copies what came to where it is wanted.
template <class T, class Into>
void copy_out(Room<T> &room, std::size_t length, Into &into) {
  horus_received about = {};
  about.bytes = length;
  room.holds(about);
  if constexpr (is_bytes<T>)
    into.assign(room.message()->begin(), room.message()->end());
  else
    into = *room.message();
}

}  // namespace detail

// Who asked what, for a server that answers later.
using Ticket = horus_ticket;

// Where the answer to one request goes. If it ends without one, the caller is told that there is none.
template <class A>
class Answer {
 public:
  // To whom a server gave this ticket.
  Answer(const detail::ServerEnd::Keeper &server, Ticket ticket) : server_(server), ticket_(ticket) {}
  Answer(Answer &&other) noexcept : server_(std::move(other.server_)), ticket_(other.ticket_), is_over_(std::exchange(other.is_over_, true)) {}
  Answer &operator=(Answer &&other) = delete;
  ~Answer() {
    if (!is_over_) horus_server_refuse(server_.get(), &ticket_);
  }

  // Answers, and is over. False when the caller has no room, because it does not look: then it is dropped and counted.
  bool send(const A &answer) {
    is_over_ = true;
    const Bytes sent = detail::as_sent(answer);
    return bool(detail::checked(horus_server_answer(server_.get(), &ticket_, sent.data, sent.size)));
  }
  // Sends a part of the answer, and more may follow; false when the caller has no room: it may be sent again later.
  bool part(const A &part) {
    const Bytes sent = detail::as_sent(part);
    return bool(detail::checked(horus_server_part(server_.get(), &ticket_, sent.data, sent.size)));
  }
  // Says that all parts were sent.
  void end() {
    is_over_ = true;
    detail::expect(horus_server_end(server_.get(), &ticket_));
  }
  // Answers later, by Server::answer with the ticket.
  Ticket later() noexcept {
    is_over_ = true;
    return ticket_;
  }

 private:
  detail::ServerEnd::Keeper server_;
  Ticket ticket_;
  bool is_over_ = false;
};

// The answering end of a service, whose requests are Q and whose answers are A: structs, or Bytes. There is one at a time.
template <class Q, class A>
class Server {
 public:
  using ns = std::chrono::nanoseconds;

  // Becomes the server; refused with the reason while another one lives. Of the options, directory, group and waiting count.
  static Result<Server> open(const std::string &service, const Options &options = {}) { return open(service, 0, 0, options); }
  // With the most bytes of a request and of an answer, where one of them is Bytes; 0 for a struct.
  static Result<Server> open(const std::string &service, std::size_t request, std::size_t answer, const Options &options = {}) {
    std::string why;
    horus_server *server = detail::opened_service<Q, A>(horus_server_open, service, request, answer, options, why);
    if (!server) return Result<Server>::refused(why);
    return Result<Server>(Server(detail::ServerEnd(server, true), request));
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  explicit Server(const std::string &service, const Options &options = {}) : Server(open(service, options).take()) {}
  // As above, of Bytes.
  Server(const std::string &service, std::size_t request, std::size_t answer, const Options &options = {})
      : Server(open(service, request, answer, options).take()) {}
#endif
  // One that App::server has opened.
  Server(detail::ServerEnd end, std::size_t request) : end_(std::move(end)), room_(detail::room_for<Q>(request)) {}

  // Takes the next request, and has `handler` answer it: by what it returns, or by an Answer<A> & that it takes beside the request. Waits for a
  // request at most so long, and not in a node. False when there was none.
  template <class F>
  bool serve(F &&handler, ns limit = ns(0)) {
    Ticket ticket = {};
    horus_received about = {};
    std::size_t length = 0;
    const Outcome came = detail::checked(
        horus_server_next(end_.get(), room_.at(), room_.size(), &length, &ticket, detail::limit_ns(limit)));
    if (!came) return false;
    about.bytes = length;
    room_.holds(about);
    const Q &request = *room_.message();
    Answer<A> to(end_.keeper(), ticket);
    if constexpr (std::is_invocable_v<F &, const Q &, Answer<A> &>)
      handler(request, to);
    else
      to.send(handler(request));
    return true;
  }
  // Answers a request of before.
  Answer<A> answer(Ticket ticket) { return Answer<A>(end_.keeper(), ticket); }
  // Messages that had no room, because their client did not look.
  std::uint64_t undelivered() { return horus_server_undelivered(end_.get()); }

 private:
  detail::ServerEnd end_;
  detail::Room<Q> room_;
};

// A call that is on its way. When it ends, the call is given up.
class Call {
 public:
  // None.
  Call() = default;
  // One that a client has asked, and what that came to.
  Call(const detail::ClientEnd::Keeper &client, horus_call number, horus_status asked)
      : client_(client), number_(asked == HORUS_OK ? number : 0), asked_(asked) {}
  Call(Call &&other) noexcept
      : client_(std::move(other.client_)), number_(std::exchange(other.number_, 0)), asked_(other.asked_) {}
  Call &operator=(Call &&other) noexcept {
    std::swap(client_, other.client_);
    std::swap(number_, other.number_);
    std::swap(asked_, other.asked_);
    return *this;
  }
  ~Call() {
    if (number_) horus_client_give_up(client_.get(), number_);
  }
  // Whether it is on its way: asked, and not answered.
  explicit operator bool() const noexcept { return number_ != 0; }
  // What asking came to.
  horus_status status() const noexcept { return asked_; }
  // Its number, by which C knows it.
  horus_call number() const noexcept { return number_; }
  // It is over.
  void end() noexcept { number_ = 0; }

 private:
  detail::ClientEnd::Keeper client_;
  horus_call number_ = 0;
  horus_status asked_ = HORUS_EMPTY;
};

// The asking end of a service. It may come before its server.
template <class Q, class A>
class Client {
 public:
  using ns = std::chrono::nanoseconds;

  // Becomes a client; refused with the reason. Of the options, directory, group and waiting count.
  static Result<Client> open(const std::string &service, const Options &options = {}) { return open(service, 0, 0, options); }
  // With the most bytes of a request and of an answer, where one of them is Bytes; 0 for a struct.
  static Result<Client> open(const std::string &service, std::size_t request, std::size_t answer, const Options &options = {}) {
    std::string why;
    horus_client *client = detail::opened_service<Q, A>(horus_client_open, service, request, answer, options, why);
    if (!client) return Result<Client>::refused(why);
    return Result<Client>(Client(detail::ClientEnd(client, true), answer));
  }
#ifndef HORUS_NO_EXCEPTIONS
  // As `open`; what is refused is thrown as an Error.
  explicit Client(const std::string &service, const Options &options = {}) : Client(open(service, options).take()) {}
  // As above, of Bytes.
  Client(const std::string &service, std::size_t request, std::size_t answer, const Options &options = {})
      : Client(open(service, request, answer, options).take()) {}
#endif
  // One that App::client has opened.
  Client(detail::ClientEnd end, std::size_t answer) : end_(std::move(end)), room_(detail::room_for<A>(answer)) {}

  // Asks, and waits for the answer at most so long: an A into an A, and bytes into a std::string or a std::vector of them. A call without an answer is
  // an error with the status of its reason: HORUS_CALL_NOT_SERVED, HORUS_CALL_DIED, HORUS_CALL_STOPPED, HORUS_CALL_UNANSWERED, HORUS_CALL_TIMED_OUT.
  template <class Into>
  Outcome call(const Q &request, Into &answer, ns limit) {
    const Bytes sent = detail::as_sent(request);
    std::size_t length = 0;
    const Outcome came = detail::checked(
        horus_client_call(end_.get(), sent.data, sent.size, room_.at(), room_.size(), &length, detail::limit_ns(limit)));
    if (came) detail::copy_out(room_, length, answer);
    return came;
  }
  // Asks, and does not wait: `answer` or `part` look later. Without exceptions, the status of what is returned says why a call is not on its way.
  Call ask(const Q &request) {
    const Bytes sent = detail::as_sent(request);
    horus_call number = 0;
    const Outcome asked = detail::checked(horus_client_ask(end_.get(), sent.data, sent.size, &number));
    return Call(end_.keeper(), number, asked.status());
  }
  // The answer to a call, with which it is over; false as long as there is none.
  template <class Into>
  Outcome answer(Call &call, Into &into) {
    return look(horus_client_answer, call, into, true);
  }
  // The next message of an answer that has several: false with HORUS_EMPTY while none came, and with HORUS_END behind the last one.
  template <class Into>
  Outcome part(Call &call, Into &into) {
    return look(horus_client_part, call, into, false);
  }
  // Waits for a message from the server, at most so long; which call it is for, looking says.
  Outcome wait(ns limit) { return detail::checked(horus_client_wait(end_.get(), detail::limit_ns(limit))); }
  // Whether the server lives; if not, all calls on their way end. Makes system calls.
  bool check_server() { return bool(detail::checked(horus_client_check_server(end_.get()))); }
  // Whether a living program serves it. Makes system calls.
  bool is_served() { return bool(detail::checked(horus_client_is_served(end_.get()))); }
  // Waits, at most so long, until a living program serves it.
  bool wait_until_served(ns limit) { return bool(detail::checked(horus_client_wait_until_served(end_.get(), detail::limit_ns(limit)))); }
  // Messages for calls that were given up, so far.
  std::uint64_t late() { return horus_client_late(end_.get()); }
  // Calls that are unanswered.
  std::size_t unanswered() { return horus_client_unanswered(end_.get()); }

 private:
  template <class Into>
  Outcome look(horus_status (*by)(horus_client *, horus_call, void *, std::size_t, std::size_t *), Call &call, Into &into, bool is_last) {
    std::size_t length = 0;
    const horus_status status = by(end_.get(), call.number(), room_.at(), room_.size(), &length);
    if (status == HORUS_END || (status < 0 && status != HORUS_MISUSE) || (is_last && status == HORUS_OK)) call.end();
    const Outcome came = detail::checked(status);
    if (came) detail::copy_out(room_, length, into);
    return came;
  }
  detail::ClientEnd end_;
  detail::Room<A> room_;
};

}  // namespace HORUS_MODE
}  // namespace horus

#endif

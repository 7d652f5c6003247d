// SPDX-License-Identifier: Apache-2.0
// All use of the HTTP library's server. It parses and writes; ranges, compression and limits are
// ours.
#include "ubique/serve/http/listener.h"

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/serve/http/receive.h"
#include "ubique/serve/http/thread_pool.h"
#include "ubique/serve/http/write.h"

namespace ubique::serve {
namespace {

constexpr std::size_t kLongestPath = 1024;
constexpr int kBacklog = 512;
constexpr int kPortsTried = 50;

/// Void, or in later versions of the library whether there was room.
using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue(std::function<void()>()));

class PoolQueue : public httplib::TaskQueue {
 public:
  PoolQueue(std::size_t threads, Figures& figures) : pool_(threads, 10), figures_(figures) {}
  Enqueued enqueue(std::function<void()> work) override {
    pool_.add([this, work = std::move(work)] {
      ++figures_.connections;
      work();
      --figures_.connections;
    });
    return static_cast<Enqueued>(1);
  }
  void shutdown() override { pool_.finish(); }

 private:
  GrowingPool pool_;
  Figures& figures_;
};

}  // namespace

class ServerSocket : public httplib::Server {
 public:
  /// More waiting connections than the library allows.
  void deepen() { ::listen(svr_sock_, kBacklog); }
  /// One request of a stream; false: there is no other.
  bool serve(httplib::Stream& stream) {
    bool closed = false;
    return process_request(stream, /*close_connection=*/false, closed, nullptr) && !closed;
  }
};

/// A connection whose client has sent everything already.
class MemoryStream : public httplib::Stream {
 public:
  MemoryStream(std::string_view input, int most_pieces) : input_(input), pieces_(most_pieces) {}
  bool is_readable() const override { return true; }
  bool is_writable() const override { return pieces_-- > 0; }
  ssize_t read(char* to, size_t size) override {
    const auto part = input_.substr(0, size);
    std::ranges::copy(part, to);
    input_.remove_prefix(part.size());
    return static_cast<ssize_t>(part.size());
  }
  ssize_t write(const char* bytes, size_t size) override {
    output_.append(bytes, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& address, int& port) const override {
    address = "127.0.0.1";
    port = 1;
  }
  void get_local_ip_and_port(std::string& address, int& port) const override {
    get_remote_ip_and_port(address, port);
  }
  socket_t socket() const override { return INVALID_SOCKET; }

  bool is_empty() const { return input_.empty(); }
  void allow(int pieces) { pieces_ = pieces; }
  std::string take_output() { return std::move(output_); }

 private:
  std::string_view input_;
  mutable int pieces_;
  std::string output_;
};

namespace {

/// Not the library's own, which let two servers share one port.
void set_options(socket_t socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

/// What the library itself refuses (no HTTP, too many headers) gets our form of an error too, and
/// ends the connection: what follows may be the body of what was refused.
void explain_refusal(httplib::Response& to) {
  if (to.content_length_ > 0 || !to.body.empty()) return;
  auto response = error_answer(to.status, to.status < 500 ? "usage" : "internal",
                               "[serve.request] the request is not well formed.");
  add_hardened_headers(response);
  for (const auto& [name, value] : response.headers) to.set_header(name, value);
  to.set_header("Content-Length", std::to_string(response.body.size()));
  put_text(std::move(response.body), response.type, /*close=*/true, to);
}

}  // namespace

struct Listener::Inside {
  Inside(const Router& router, Guard& guard, Figures& figures, ListenSettings settings)
      : router(router), guard(guard), figures(figures), settings(std::move(settings)) {}

  void set_up();
  /// Of a request without a body, or whose body was read.
  Response answer(Request& request, const Router::Found& found);
  void answer_without_body(const httplib::Request& from, httplib::Response& to);
  void answer_with_body(const httplib::Request& from, httplib::Response& to,
                        const httplib::ContentReader& reader);
  void finish(const Request& request, Response response, httplib::Response& to);
  /// The library must neither cut ranges nor compress: that is done here.
  static void take_over(const httplib::Request& from);

  const Router& router;
  Guard& guard;
  Figures& figures;
  ListenSettings settings;
  std::atomic<bool> running = true, listening = false;
  ServerSocket server;
};

void Listener::Inside::take_over(const httplib::Request& from) {
  auto& request = const_cast<httplib::Request&>(from);
  request.ranges.clear();
}

void Listener::Inside::finish(const Request& request, Response response, httplib::Response& to) {
  add_hardened_headers(response);
  const auto hundreds = static_cast<std::size_t>(std::clamp(response.status / 100, 0, 5));
  ++figures.answers[hundreds];
  write_response(
      std::move(response), request.header("Range"), [this] { return running.load(); }, to);
}

Response Listener::Inside::answer(Request& request, const Router::Found& found) {
  if (auto signed_in = guard.sign_in(request)) {
    if (signed_in->status != 401 || !found.page) return *signed_in;
    auto page = router.answer(found, request);  // it says that the token is wrong, and asks for it
    if (page.status == 200) page.status = 401;
    return page;
  }
  if (auto refused = guard.refusal(request, found.rules())) return *refused;
  return router.answer(found, request);
}

void Listener::Inside::answer_without_body(const httplib::Request& from, httplib::Response& to) {
  Request request;
  take_over(from);
  if (from.path.size() > kLongestPath) {
    auto response = error_answer(414, "usage", "[serve.request] the address is too long.");
    response.close = true;
    return finish(request, std::move(response), to);
  }
  if (has_body(from)) {
    // It cannot be read here. An answer to HEAD has no body, and could not end the connection.
    const_cast<httplib::Request&>(from).method = "GET";
    auto response = error_answer(400, "usage", "[serve.request] such a request has no body.");
    response.close = true;
    return finish(request, std::move(response), to);
  }
  if (auto refused = receive_head(from, request)) return finish(request, *refused, to);
  const auto found = router.find(request);
  finish(request, answer(request, found), to);
}

void Listener::Inside::answer_with_body(const httplib::Request& from, httplib::Response& to,
                                        const httplib::ContentReader& reader) {
  Request request;
  take_over(from);
  if (auto refused = receive_head(from, request)) return finish(request, *refused, to);
  const auto found = router.find(request);
  const auto* rules = found.route != nullptr ? &found.route->rules : nullptr;
  auto refused = guard.refusal(request, rules);
  if (refused || rules == nullptr) {
    drop_body(from, reader);  // so that the client, which is still sending, reads the answer
    auto response = refused ? *refused : router.answer(found, request);
    response.close = has_body(from);  // perhaps not all of it was read
    return finish(request, std::move(response), to);
  }
  refused =
      receive_body(from, reader, *rules, {settings.upload_bytes, settings.temporary}, request);
  for (const auto& file : request.files) figures.uploaded_bytes += file.bytes;
  finish(request, refused ? *refused : router.answer(found, request), to);
  remove_files(request);
}

void Listener::Inside::set_up() {
  server.new_task_queue = [this] { return new PoolQueue(settings.threads, figures); };
  server.set_socket_options(set_options);
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(100000);
  server.set_keep_alive_timeout(settings.keep_alive_seconds);
  server.set_read_timeout(settings.read_seconds);
  server.set_write_timeout(settings.write_seconds);
  server.set_payload_max_length(static_cast<std::size_t>(settings.upload_bytes) + (1U << 20U));
  using Handled = httplib::Server::HandlerResponse;
  server.set_pre_routing_handler([this](const httplib::Request& from, httplib::Response& to) {
    const auto& method = from.method;
    const bool with_body =
        method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
    if (with_body && from.path.size() <= kLongestPath) return Handled::Unhandled;
    answer_without_body(from, to);
    return Handled::Handled;
  });
  const auto with_body = [this](const httplib::Request& from, httplib::Response& to,
                                const httplib::ContentReader& reader) {
    answer_with_body(from, to, reader);
  };
  server.Post(".*", with_body);
  server.Put(".*", with_body);
  server.Patch(".*", with_body);
  server.Delete(".*", with_body);
  // What the library itself refuses (no HTTP, too many headers) gets our form of an error too.
  server.set_error_handler(httplib::Server::Handler(
      [](const httplib::Request& /*from*/, httplib::Response& to) { explain_refusal(to); }));
}

Listener::Listener(const Router& router, Guard& guard, Figures& figures, ListenSettings settings)
    : inside_(std::make_unique<Inside>(router, guard, figures, std::move(settings))) {
  inside_->set_up();
}

Listener::~Listener() = default;

int Listener::bind(const std::string& host, int port) {
  auto& server = inside_->server;
  if (port == 0) {
    const int any = server.bind_to_any_port(host);
    check(any > 0, ErrorKind::Input, "[serve.listen] no port is free on '{}'.", printable(host));
    return any;
  }
  for (int tried = port; tried < port + kPortsTried && tried < 65536; ++tried) {
    if (server.bind_to_port(host, tried)) return tried;
  }
  fail(ErrorKind::Input,
       "[serve.listen] cannot listen; got --host {} --port {}, expected an address of this machine "
       "and a port from 1024 on of which one of the next {} is free.",
       printable(host), port, kPortsTried);
}

void Listener::listen() {
  inside_->listening = true;
  inside_->server.deepen();
  if (inside_->running) inside_->server.listen_after_bind();
  inside_->listening = false;
}

void Listener::stop() {
  inside_->running = false;
  // The library forgets a stop that comes just before it listens.
  while (inside_->listening && !inside_->server.is_running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  inside_->server.stop();
}

std::string Listener::answer_bytes(std::string_view requests, int most_pieces) {
  MemoryStream stream(requests, most_pieces);
  while (!stream.is_empty() && inside_->server.serve(stream)) stream.allow(most_pieces);
  return stream.take_output();
}

bool is_loopback(const std::string& host) {
  const auto name = lowercase(host);
  return name == "localhost" || name == "::1" || name.starts_with("127.");
}

}  // namespace ubique::serve

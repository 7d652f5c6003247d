// SPDX-License-Identifier: Apache-2.0
// The HTTP library behind our own terms: takes connections, checks what was sent against limits,
// asks the guard and the router, writes the answer.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "ubique/serve/http/figures.h"
#include "ubique/serve/http/guard.h"
#include "ubique/serve/http/router.h"

namespace ubique::serve {

struct ListenSettings {
  std::filesystem::path temporary;            ///< folder for bodies that are being received
  std::int64_t upload_bytes = 2LL << 30U;     ///< most bytes of one upload
  std::size_t threads = 320;                  ///< connections served at the same time
  int read_seconds = 10, write_seconds = 20;  ///< for a client that does not go on
  int keep_alive_seconds = 5;
};

class Listener {
 public:
  Listener(const Router& router, Guard& guard, Figures& figures, ListenSettings settings);
  ~Listener();

  /// The port, or the next free one of the fifty after it; 0 takes any. Input error if none is free
  /// or the host is none of this machine's.
  int bind(const std::string& host, int port);
  void listen();  ///< until stop(), which may be called from any thread
  void stop();
  /// Reads requests from memory, as from a connection, and returns what it would send. A client
  /// that takes no more than so many pieces of an endless answer.
  std::string answer_bytes(std::string_view requests, int most_pieces = 8);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

/// Loopback addresses and localhost.
bool is_loopback(const std::string& host);

}  // namespace ubique::serve

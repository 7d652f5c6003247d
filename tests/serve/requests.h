// SPDX-License-Identifier: Apache-2.0
// Requests for tests, as the listener would make them.
#pragma once

#include <string>
#include <utility>

#include "ubique/serve/http/message.h"

namespace ubique::test {

/// `address` may have a query: "/api/jobs?state=queued&limit=2". Nothing in it is decoded.
inline serve::Request request_of(const std::string& method, const std::string& address,
                                 std::string body = {}, serve::Headers headers = {}) {
  serve::Request request;
  request.method = method;
  request.body = std::move(body);
  request.headers = std::move(headers);
  request.address = "127.0.0.1";
  const auto mark = address.find('?');
  request.path = address.substr(0, mark);
  auto rest = mark == std::string::npos ? std::string() : address.substr(mark + 1);
  while (!rest.empty()) {
    const auto end = rest.find('&');
    const auto pair = rest.substr(0, end);
    const auto equals = pair.find('=');
    request.query[pair.substr(0, equals)] =
        equals == std::string::npos ? std::string() : pair.substr(equals + 1);
    rest = end == std::string::npos ? std::string() : rest.substr(end + 1);
  }
  return request;
}

}  // namespace ubique::test

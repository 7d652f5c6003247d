// SPDX-License-Identifier: Apache-2.0
// From our response to the HTTP library's.
#pragma once

#include <functional>
#include <string>

#include "ubique/serve/http/message.h"

namespace httplib {
struct Response;
}  // namespace httplib

namespace ubique::serve {

/// `close`: the connection ends after it.
void put_text(std::string body, const std::string& type, bool close, httplib::Response& to);

/// `running`: the server is not being stopped. `range` is the request's header.
void write_response(Response from, const std::string& range, std::function<bool()> running,
                    httplib::Response& to);

}  // namespace ubique::serve

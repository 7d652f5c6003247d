// SPDX-License-Identifier: Apache-2.0
// From the HTTP library's request to ours; bodies within limits, files into a temporary folder.
#pragma once

#include <filesystem>
#include <optional>

#include "ubique/serve/http/message.h"
#include "ubique/serve/http/router.h"

namespace httplib {
struct Request;
class ContentReader;
}  // namespace httplib

namespace ubique::serve {

/// Does a body follow the head? What is left of it unread would be taken for another request.
bool has_body(const httplib::Request& from);

/// Everything but the body. An error answer for what no honest client sends: headers twice that may
/// be there once, control characters in the path.
std::optional<Response> receive_head(const httplib::Request& from, Request& to);

struct BodyLimits {
  std::int64_t upload_bytes = 0;
  std::filesystem::path temporary;
};

/// The body, as text or as files, by what the route takes. An error answer for one that is too
/// large or no multipart body.
std::optional<Response> receive_body(const httplib::Request& from,
                                     const httplib::ContentReader& reader, const RouteRules& rules,
                                     const BodyLimits& limits, Request& to);

/// Reads and drops a body of moderate size, so that the client gets its answer.
void drop_body(const httplib::Request& from, const httplib::ContentReader& reader);

/// Removes files that no route has moved away.
void remove_files(Request& request);

}  // namespace ubique::serve

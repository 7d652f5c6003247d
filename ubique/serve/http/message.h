// SPDX-License-Identifier: Apache-2.0
// A request and its response, without the HTTP library: routes are written and tested against
// these.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ubique/base/text/json_fwd.h"

namespace ubique::serve {

/// Names of headers are compared without regard to case.
struct HeaderOrder {
  bool operator()(const std::string& left, const std::string& right) const;
};
using Headers = std::map<std::string, std::string, HeaderOrder>;

/// A file of a multipart/form-data body. It lies in a temporary place until somebody moves it.
struct ReceivedFile {
  std::string field, name, type;  ///< as the client says
  std::filesystem::path path;
  std::int64_t bytes = 0;
};

struct Request {
  std::string method, path;                   ///< "GET", "/api/jobs/12"; the path is decoded
  std::map<std::string, std::string> query;   ///< decoded; of a repeated key the last
  std::map<std::string, std::string> values;  ///< of {placeholders} in the route's pattern
  Headers headers;
  std::string body;
  std::vector<ReceivedFile> files;
  std::string address;  ///< of the client

  std::string header(const std::string& name) const;  ///< empty if absent
  std::string value(const std::string& name) const { return values.at(name); }
  std::string asked(const std::string& key) const;  ///< of the query; empty if absent
  /// A whole number of the query within limits; an error answer (422) for anything else.
  std::int64_t number(const std::string& key, std::int64_t usual, std::int64_t least,
                      std::int64_t most) const;
  Json json()
      const;  ///< the body as a JSON object; empty body: {}; an error answer (400) otherwise
};

/// Sends bytes to the client; false: it is gone, or the server stops.
using Send = std::function<bool(std::string_view)>;

/// An answer that is written piece by piece, on the connection's own thread.
struct Stream {
  /// Called once; `open` says whether to go on (it also looks whether the client is still there).
  std::function<void(const Send& send, const std::function<bool()>& open)> write;
};

struct FileBody {
  std::filesystem::path path;
  std::int64_t offset = 0, bytes = 0;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  Headers headers = {};
  std::optional<FileBody> file = {};  ///< instead of a body
  std::optional<Stream> stream = {};  ///< instead of a body
  bool close = false;                 ///< end the connection after it
};

/// What a route throws to answer with an error; ubique::Error becomes one by its kind.
class ErrorAnswer : public std::exception {
 public:
  ErrorAnswer(int status, std::string kind, std::string message)
      : status(status), kind(std::move(kind)), message(std::move(message)) {}
  const char* what() const noexcept override { return message.c_str(); }

  int status;
  std::string kind, message;
};

[[noreturn]] void refuse(int status, const std::string& kind, const std::string& message);
[[noreturn]] void missing(const std::string& what, const std::string& name);  ///< 404

Response json_answer(const Json& document, int status = 200);
Response error_answer(int status, const std::string& kind, const std::string& message);
/// Of whatever is being handled in a catch block.
Response answer_of_exception();

}  // namespace ubique::serve

// SPDX-License-Identifier: Apache-2.0
// Readers of a request's parts, and answers for errors.
#include "ubique/serve/http/message.h"

#include <strings.h>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/base/text/utf8.h"
#include "ubique/serve/store/database.h"

namespace ubique::serve {
namespace {

struct Kind {
  int status;
  const char* name;
};

Kind kind_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Usage:
      return {422, "usage"};
    case ErrorKind::Input:
    case ErrorKind::Parity:
      return {422, "input"};
    case ErrorKind::Device:
      return {503, "device"};
    case ErrorKind::Internal:
      break;
  }
  return {500, "internal"};
}

}  // namespace

bool HeaderOrder::operator()(const std::string& left, const std::string& right) const {
  return ::strcasecmp(left.c_str(), right.c_str()) < 0;
}

std::string Request::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

std::string Request::asked(const std::string& key) const {
  const auto found = query.find(key);
  return found == query.end() ? std::string() : found->second;
}

std::int64_t Request::number(const std::string& key, std::int64_t usual, std::int64_t least,
                             std::int64_t most) const {
  const auto text = asked(key);
  if (text.empty()) return usual;
  const auto number = parse_number(text);
  const bool whole =
      number &&
      *number == static_cast<double>(static_cast<std::int64_t>(std::clamp(*number, -9e15, 9e15)));
  check(whole && *number >= static_cast<double>(least) && *number <= static_cast<double>(most),
        ErrorKind::Usage, "[serve.request] ?{}=; got '{}', expected a whole number of {} to {}.",
        key, printable(text, 40), least, most);
  return static_cast<std::int64_t>(*number);
}

Json Request::json() const {
  if (body.empty()) return Json::object();
  Json document;
  try {
    document = parse_json(body, "the request's body");
  } catch (const Error& error) {
    refuse(400, "usage", error.what());
  }
  if (!document.is_object()) {
    refuse(400, "usage",
           fmt::format("[serve.request] the body; got {}, expected a JSON object.",
                       document.type_name()));
  }
  return document;
}

void refuse(int status, const std::string& kind, const std::string& message) {
  throw ErrorAnswer(status, kind, message);
}

void missing(const std::string& what, const std::string& name) {
  refuse(404, "missing",
         fmt::format("[serve.request] there is no such {}; got '{}'.", what, printable(name, 80)));
}

Response json_answer(const Json& document, int status) {
  Response response;
  response.status = status;
  response.body = json_text(document) + "\n";
  return response;
}

Response error_answer(int status, const std::string& kind, const std::string& message) {
  return json_answer({{"error", {{"kind", kind}, {"message", message}}}}, status);
}

Response answer_of_exception() {
  try {
    throw;
  } catch (const ErrorAnswer& answer) {
    return error_answer(answer.status, answer.kind, answer.message);
  } catch (const DiskFull& error) {
    return error_answer(507, "limit", error.what());
  } catch (const Error& error) {
    const auto kind = kind_of(error.kind());
    if (kind.status == 500) log::error("{}", error.what());
    return error_answer(kind.status, kind.name, error.what());
  } catch (const Json::exception& error) {
    // A value of another type than expected, of a document that the client sent.
    return error_answer(422, "usage",
                        fmt::format("[serve.request] a value has the wrong type; {}.",
                                    printable(error.what(), 200)));
  } catch (const std::exception& error) {
    log::error("[serve.request] {}", error.what());
    return error_answer(500, "internal", "[serve.request] the server failed; its log says why.");
  }
}

}  // namespace ubique::serve

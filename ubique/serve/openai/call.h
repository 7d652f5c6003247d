// SPDX-License-Identifier: Apache-2.0
// A call of OpenAI's interface, read from its body: what is asked of which model, as requests for a
// worker. What OpenAI has and this program has not is refused with a reason, never ignored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ubique/base/text/json.h"

namespace ubique::serve {

/// An error in OpenAI's form; a route answers with it.
class OpenAiError : public std::exception {
 public:
  OpenAiError(int status, std::string type, std::string message, std::string param = {},
              std::string code = {});
  const char* what() const noexcept override { return message.c_str(); }
  /// {"error": {"message", "type", "param", "code"}}
  Json json() const;

  int status;
  std::string type, message, param, code;
};

/// 400 about a parameter of the body.
[[noreturn]] void refuse_parameter(const std::string& param, const std::string& message);

struct OpenAiCall {
  bool chat = false;
  std::string model;
  bool stream = false, include_usage = false;
  int logprobs = -1;           ///< of how many likeliest tokens; -1: none at all
  std::int64_t n = 1;          ///< choices for each prompt
  std::vector<Json> requests;  ///< for the worker, one for each choice, without ids
  std::int64_t bytes = 0;      ///< of all requests as text
};

/// The bodies of /v1/completions and /v1/chat/completions. `seed` is taken where the body has none.
OpenAiCall parse_completion_call(const Json& body, std::uint64_t seed);
OpenAiCall parse_chat_call(const Json& body, std::uint64_t seed);

}  // namespace ubique::serve

// SPDX-License-Identifier: Apache-2.0
// Parameters one by one: their types, their limits, and those that nothing here could honour.
#include "ubique/serve/openai/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::serve {
namespace {

constexpr std::int64_t kMostChoices = 128, kMostStops = 16, kMostLogprobs = 20;
constexpr std::int64_t kMostBytes = 64LL << 20U;  // of all choices' prompts
constexpr std::int64_t kUsualCompletion = 16;     // tokens, as OpenAI has it

/// Takes parameters out of a body; what is left at the end is not known.
class Parameters {
 public:
  explicit Parameters(const Json& body) : body_(body) {
    if (!body.is_object()) refuse_parameter({}, "the body is no JSON object");
  }

  /// Null if it is absent or null.
  const Json& take(const std::string& key) {
    static const Json kNothing;
    known_.push_back(key);
    const auto found = body_.find(key);
    return found == body_.end() ? kNothing : *found;
  }

  double number(const std::string& key, double usual, double least, double most) {
    const auto& value = take(key);
    if (value.is_null()) return usual;
    if (!value.is_number()) wrong(key, value, "a number");
    const auto number = value.get<double>();
    if (!(number >= least && number <= most)) {
      wrong(key, value, fmt::format("a number of {} to {}", least, most));
    }
    return number;
  }

  std::int64_t whole(const std::string& key, std::int64_t usual, std::int64_t least,
                     std::int64_t most) {
    const auto& value = take(key);
    if (value.is_null()) return usual;
    if (!value.is_number_integer() || value.get<double>() < static_cast<double>(least) ||
        value.get<double>() > static_cast<double>(most)) {
      wrong(key, value, fmt::format("a whole number of {} to {}", least, most));
    }
    return value.get<std::int64_t>();
  }

  bool flag(const std::string& key, bool usual) {
    const auto& value = take(key);
    if (value.is_null()) return usual;
    if (!value.is_boolean()) wrong(key, value, "true or false");
    return value.get<bool>();
  }

  std::string text(const std::string& key) {
    const auto& value = take(key);
    if (value.is_null()) return {};
    if (!value.is_string()) wrong(key, value, "a text");
    return value.get<std::string>();
  }

  void ignore(std::initializer_list<const char*> keys) {
    for (const auto* key : keys) known_.emplace_back(key);
  }

  /// Refuses what is there and not a value that changes nothing.
  void unsupported(const std::string& key, const char* why,
                   const std::function<bool(const Json&)>& harmless = {}) {
    const auto& value = take(key);
    if (value.is_null() || (harmless && harmless(value))) return;
    refuse_parameter(key, fmt::format("'{}' is not supported here: {}", key, why));
  }

  void finish() const {
    for (const auto& [key, value] : body_.items()) {
      if (std::ranges::find(known_, key) != known_.end()) continue;
      refuse_parameter(printable(key, 60), fmt::format("unknown parameter '{}'.{}",
                                                       printable(key, 60), hint(key, known_)));
    }
  }

  [[noreturn]] static void wrong(const std::string& key, const Json& value,
                                 const std::string& expected) {
    refuse_parameter(key, fmt::format("'{}' is {}; expected {}", key,
                                      printable(json_text(value), 60), expected));
  }

 private:
  const Json& body_;
  std::vector<std::string> known_;
};

std::vector<std::string> take_stops(Parameters& parameters) {
  const auto& value = parameters.take("stop");
  std::vector<std::string> stops;
  if (value.is_string()) {
    stops.push_back(value.get<std::string>());
  } else if (value.is_array() && static_cast<std::int64_t>(value.size()) <= kMostStops) {
    for (const auto& stop : value) {
      if (!stop.is_string()) Parameters::wrong("stop", value, "a text or a list of texts");
      stops.push_back(stop.get<std::string>());
    }
  } else if (!value.is_null()) {
    Parameters::wrong("stop", value, fmt::format("a text or a list of at most {}", kMostStops));
  }
  if (std::ranges::any_of(stops, [](const auto& stop) { return stop.empty(); })) {
    Parameters::wrong("stop", value, "texts that are not empty");
  }
  return stops;
}

/// What both calls share, as the beginning of a worker's request.
Json take_sampling(Parameters& parameters) {
  Json request = {{"op", "complete"}};
  request["temperature"] = parameters.number("temperature", 1, 0, 2);
  request["top_p"] = parameters.number("top_p", 1, 0, 1);
  if (request["top_p"] == 0.0) request["top_p"] = 1e-9;  // the likeliest token alone
  request["presence_penalty"] = parameters.number("presence_penalty", 0, -2, 2);
  request["frequency_penalty"] = parameters.number("frequency_penalty", 0, -2, 2);
  // Beyond OpenAI's, with the names that other servers have.
  request["top_k"] = std::max<std::int64_t>(parameters.whole("top_k", 0, -1, 1 << 30), 0);
  request["min_p"] = parameters.number("min_p", 0, 0, 0.999999);
  request["repetition_penalty"] = parameters.number("repetition_penalty", 1, 0.01, 100);
  request["lookup"] = parameters.whole("lookup", 0, 0, 64);
  request["stop"] = take_stops(parameters);
  const auto& bias = parameters.take("logit_bias");
  if (!bias.is_null() && !bias.is_object()) Parameters::wrong("logit_bias", bias, "an object");
  for (const auto& [token, amount] : bias.items()) {
    const auto id = parse_number(token);
    const bool valid = id && *id >= 0 && *id < 0x7fffffff && std::floor(*id) == *id &&
                       amount.is_number() && std::abs(amount.get<double>()) <= 100;
    if (!valid) Parameters::wrong("logit_bias", bias, "token ids with numbers of -100 to 100");
  }
  if (bias.is_object() && !bias.empty()) request["logit_bias"] = bias;
  return request;
}

void take_common(Parameters& parameters, OpenAiCall& call) {
  call.model = parameters.text("model");
  call.stream = parameters.flag("stream", false);
  const auto& options = parameters.take("stream_options");
  if (options.is_object()) {
    Parameters inner(options);
    call.include_usage = inner.flag("include_usage", false);
    inner.ignore({"include_obfuscation"});
    inner.finish();
  } else if (!options.is_null()) {
    Parameters::wrong("stream_options", options, "an object");
  }
  call.n = parameters.whole("n", 1, 1, kMostChoices);
  // They say who asks, or what a large installation may do with it.
  parameters.ignore({"user", "metadata", "store", "service_tier", "safety_identifier",
                     "prompt_cache_key", "prompt_cache_retention"});
}

std::uint64_t take_seed(Parameters& parameters, std::uint64_t seed) {
  const auto& value = parameters.take("seed");
  if (value.is_null()) return seed;
  if (!value.is_number_integer()) Parameters::wrong("seed", value, "a whole number");
  return value.is_number_unsigned() ? value.get<std::uint64_t>()
                                    : static_cast<std::uint64_t>(value.get<std::int64_t>());
}

/// Choice i of a prompt has the seed plus i: other texts, and the same again another time.
void add_choices(OpenAiCall& call, Json request, std::uint64_t seed) {
  if (static_cast<std::int64_t>(call.requests.size()) + call.n > kMostChoices) {
    refuse_parameter("n", fmt::format("more than {} choices are asked for at once", kMostChoices));
  }
  call.bytes += call.n * static_cast<std::int64_t>(json_text(request).size());
  if (call.bytes > kMostBytes) {
    refuse_parameter("n", fmt::format("the choices have {} of prompts together, {} are allowed",
                                      human_bytes(call.bytes), human_bytes(kMostBytes)));
  }
  for (std::int64_t i = 0; i < call.n; ++i) {
    request["seed"] = seed + static_cast<std::uint64_t>(i);
    call.requests.push_back(request);
  }
}

bool is_token_list(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::ranges::all_of(value, [](const Json& id) { return id.is_number_integer(); });
}

/// A text, tokens, or a list of texts or of lists of tokens.
std::vector<Json> take_prompts(Parameters& parameters) {
  const auto& value = parameters.take("prompt");
  if (value.is_string() || is_token_list(value)) return {value};
  constexpr const char* kForms = "a text, a list of tokens, or a list of one of these";
  if (!value.is_array() || value.empty()) Parameters::wrong("prompt", value, kForms);
  std::vector<Json> prompts;
  for (const auto& prompt : value) {
    if (!prompt.is_string() && !is_token_list(prompt)) {
      Parameters::wrong("prompt", value, kForms);
    }
    prompts.push_back(prompt);
  }
  return prompts;
}

/// A text, or the texts of a message's parts.
std::string content_of(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (!content.is_array()) Parameters::wrong("messages", content, "a content that is a text");
  for (const auto& part : content) {
    const auto type = part.is_object() ? part.value("type", Json()) : Json();
    const auto written = part.is_object() ? part.value("text", Json()) : Json();
    if (type != "text" || !written.is_string()) {
      refuse_parameter("messages", "a message has a part that is no text: code models read texts");
    }
    text += written.get<std::string>();
  }
  return text;
}

Json take_messages(Parameters& parameters) {
  const auto& messages = parameters.take("messages");
  if (!messages.is_array() || messages.empty()) {
    Parameters::wrong("messages", messages, "a list with at least one message");
  }
  auto turns = Json::array();
  for (const auto& message : messages) {
    Parameters fields(message);
    auto role = fields.text("role");
    if (role == "developer") role = "system";
    if (role != "system" && role != "user" && role != "assistant") {
      refuse_parameter("messages", fmt::format("the role '{}'; expected system, developer, user or "
                                               "assistant",
                                               printable(role, 40)));
    }
    turns.push_back({{"role", role}, {"content", content_of(fields.take("content"))}});
    fields.unsupported("tool_calls", "no tools are called",
                       [](const Json& list) { return list.empty(); });
    fields.ignore({"name", "refusal", "annotations", "reasoning_content"});
    fields.finish();
  }
  return turns;
}

void refuse_tools(Parameters& parameters) {
  const auto empty = [](const Json& list) { return list.empty(); };
  const auto none = [](const Json& value) { return value == "none" || value == "auto"; };
  parameters.unsupported("tools", "no tools are called", empty);
  parameters.unsupported("functions", "no functions are called", empty);
  parameters.unsupported("tool_choice", "no tools are called", none);
  parameters.unsupported("function_call", "no functions are called", none);
  parameters.unsupported("response_format", "answers are plain text", [](const Json& format) {
    return format.is_object() && format.value("type", "") == "text";
  });
  parameters.unsupported("modalities", "answers are text",
                         [](const Json& list) { return list == Json::array({"text"}); });
  parameters.unsupported("audio", "answers are text");
  parameters.unsupported("prediction", "'lookup' guesses ahead without one");
  parameters.unsupported("web_search_options", "nothing is looked up");
  parameters.ignore({"parallel_tool_calls", "reasoning_effort", "verbosity"});
}

}  // namespace

OpenAiError::OpenAiError(int status, std::string type, std::string message, std::string param,
                         std::string code)
    : status(status),
      type(std::move(type)),
      message(std::move(message)),
      param(std::move(param)),
      code(std::move(code)) {}

Json OpenAiError::json() const {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {
      {"error",
       {{"message", message}, {"type", type}, {"param", or_null(param)}, {"code", or_null(code)}}}};
}

void refuse_parameter(const std::string& param, const std::string& message) {
  throw OpenAiError(400, "invalid_request_error", "[serve.openai] " + message + ".", param);
}

OpenAiCall parse_completion_call(const Json& body, std::uint64_t seed) {
  Parameters parameters(body);
  OpenAiCall call;
  take_common(parameters, call);
  auto request = take_sampling(parameters);
  call.logprobs = static_cast<int>(parameters.whole("logprobs", -1, 0, kMostLogprobs));
  request["logprobs"] = call.logprobs;
  request["echo"] = parameters.flag("echo", false);
  if (request["echo"] == true && call.logprobs >= 0) {
    refuse_parameter("echo", "'echo' with 'logprobs': those of the prompt's tokens are not known");
  }
  request["max_tokens"] = parameters.whole("max_tokens", kUsualCompletion, 1, 1 << 30);
  if (const auto suffix = parameters.text("suffix"); !suffix.empty()) request["suffix"] = suffix;
  const auto best_of = parameters.whole("best_of", call.n, 1, kMostChoices);
  if (best_of != call.n) {
    refuse_parameter("best_of", "'best_of' is not supported beyond 'n': all choices are returned");
  }
  const auto prompts = take_prompts(parameters);
  const auto chosen = take_seed(parameters, seed);
  parameters.finish();
  for (const auto& prompt : prompts) {
    request["prompt"] = prompt;
    add_choices(call, request, chosen);
  }
  return call;
}

OpenAiCall parse_chat_call(const Json& body, std::uint64_t seed) {
  Parameters parameters(body);
  OpenAiCall call;
  call.chat = true;
  take_common(parameters, call);
  auto request = take_sampling(parameters);
  const auto likeliest = parameters.whole("top_logprobs", 0, 0, kMostLogprobs);
  const bool wanted = parameters.flag("logprobs", false);
  if (!wanted && likeliest > 0) {
    refuse_parameter("top_logprobs", "'top_logprobs' needs 'logprobs': true");
  }
  call.logprobs = wanted ? static_cast<int>(likeliest) : -1;
  request["logprobs"] = call.logprobs;
  const auto older = parameters.whole("max_tokens", -1, 1, 1 << 30);
  const auto most = parameters.whole("max_completion_tokens", older, 1, 1 << 30);
  if (most > 0) request["max_tokens"] = most;  // else until the context is full
  refuse_tools(parameters);
  request["messages"] = take_messages(parameters);
  const auto chosen = take_seed(parameters, seed);
  parameters.finish();
  add_choices(call, std::move(request), chosen);
  return call;
}

}  // namespace ubique::serve

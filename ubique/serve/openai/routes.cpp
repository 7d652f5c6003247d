// SPDX-License-Identifier: Apache-2.0
// From a request to an answer: whole, in chunks, or an error in OpenAI's form.
#include "ubique/serve/openai/routes.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <random>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/serve/openai/exchange.h"

namespace ubique::serve {
namespace {

constexpr std::int64_t kMostBody = 8LL << 20U;
/// A whole answer that takes longer is sent as a stream, so that a client that goes is noticed.
constexpr std::chrono::seconds kAtOnce(2);

Response response_of(const OpenAiError& error) {
  auto response = json_answer(error.json(), error.status);
  if (error.status == 429 || error.status == 503) response.headers["Retry-After"] = "1";
  return response;
}

/// Of whatever is being handled in a catch block.
OpenAiError openai_error() {
  try {
    throw;
  } catch (const OpenAiError& error) {
    return error;
  } catch (const ErrorAnswer& error) {
    return {error.status, "invalid_request_error", error.message};
  } catch (const Error& error) {
    const bool asked_wrong = error.kind() == ErrorKind::Usage || error.kind() == ErrorKind::Input;
    return {asked_wrong ? 400 : 500, asked_wrong ? "invalid_request_error" : "server_error",
            error.what()};
  } catch (const std::exception& error) {
    log::error("[serve.openai] {}", printable(error.what(), 300));
    return {500, "server_error", "[serve.openai] the server failed; its log says why."};
  }
}

/// A handler whose errors have OpenAI's form.
Handler in_openai_form(Handler handler) {
  return [handler = std::move(handler)](const Request& request) {
    try {
      return handler(request);
    } catch (...) {
      return response_of(openai_error());
    }
  };
}

Json model_json(const OpenModel& model) {
  return {
      {"id", model.id}, {"object", "model"}, {"created", model.created}, {"owned_by", "ubique"}};
}

Response list_models(const ModelPool& pool) {
  Json json = {{"object", "list"}, {"data", Json::array()}};
  for (const auto& model : pool.list()) json["data"].push_back(model_json(model));
  return json_answer(json);
}

/// Runs the rest of an exchange on the connection; what fails now can only be told in the stream.
void write_stream(Exchange& exchange, const Send& send, const std::function<bool()>& open) {
  try {
    if (const auto early = exchange.take_early(); !early.empty() && !send(early)) return;
    if (exchange.go_on(open, send)) send(exchange.answer().end_of_stream());
  } catch (...) {
    send(stream_event(openai_error().json()));
  }
}

void write_whole(Exchange& exchange, const Send& send, const std::function<bool()>& open) {
  try {
    const auto nothing = [](std::string_view) { return true; };
    if (exchange.go_on(open, nothing)) send(json_text(exchange.answer().whole()) + "\n");
  } catch (...) {
    send(json_text(openai_error().json()) + "\n");
  }
}

Response answer_call(ModelPool& pool, OpenAiCall call) {
  const bool streams = call.stream;
  auto exchange = std::make_shared<Exchange>(pool, std::move(call));
  exchange->begin();
  if (!streams) {
    const auto always = [] { return true; };
    const auto nothing = [](std::string_view) { return true; };
    if (exchange->go_on(always, nothing, kAtOnce)) return json_answer(exchange->answer().whole());
  }
  Response response;
  if (streams) {
    response.type = "text/event-stream; charset=utf-8";
    response.headers["Cache-Control"] = "no-cache";
    response.headers["X-Accel-Buffering"] = "no";  // proxies that collect would defeat it
  }
  const auto write = streams ? write_stream : write_whole;
  response.stream = Stream{[exchange, write](const Send& send, const std::function<bool()>& open) {
    write(*exchange, send, open);
  }};
  return response;
}

std::uint64_t new_seed() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 16U ^ device();
}

using ParseCall = OpenAiCall (*)(const Json&, std::uint64_t);

Handler call_handler(ModelPool& pool, ParseCall parse) {
  return in_openai_form([&pool, parse](const Request& request) {
    auto call = parse(request.json(), new_seed());
    if (call.model.empty()) {
      refuse_parameter("model", "no 'model' is named; GET /v1/models lists them");
    }
    return answer_call(pool, std::move(call));
  });
}

}  // namespace

void add_openai_routes(Router& router, ModelPool& pool) {
  // Clients of OpenAI's interface know nothing of our header.
  const RouteRules foreign{.foreign = true, .body_bytes = kMostBody};
  router.add("GET", "/v1/models",
             in_openai_form([&pool](const Request&) { return list_models(pool); }), foreign);
  router.add("GET", "/v1/models/{id*}", in_openai_form([&pool](const Request& request) {
               return json_answer(model_json(pool.find(request.value("id"))));
             }),
             foreign);
  router.add("POST", "/v1/completions", call_handler(pool, parse_completion_call), foreign);
  router.add("POST", "/v1/chat/completions", call_handler(pool, parse_chat_call), foreign);
}

}  // namespace ubique::serve

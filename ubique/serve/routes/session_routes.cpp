// SPDX-License-Identifier: Apache-2.0
// Who answers: /healthz, /metrics, /api/session, /api/commands.
#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/serve/routes/routes.h"

namespace ubique::serve {
namespace {

std::string metrics_text(Services& services) {
  std::string text;
  const auto add = [&](const std::string& name, const char* type, const std::string& labels,
                       std::int64_t value) {
    const auto head = fmt::format("# TYPE ubique_{} {}\n", name, type);
    if (text.find(head) == std::string::npos) text += head;
    text += fmt::format("ubique_{}{} {}\n", name, labels, value);
  };
  for (const auto& [state, count] : services.jobs.counts()) {
    add("jobs", "gauge", fmt::format("{{state=\"{}\"}}", state), count);
  }
  auto& figures = services.figures;
  for (std::size_t i = 2; i < figures.answers.size(); ++i) {
    add("http_answers_total", "counter", fmt::format("{{status=\"{}xx\"}}", i), figures.answers[i]);
  }
  add("connections", "gauge", "", figures.connections);
  add("event_streams", "gauge", "", figures.event_streams);
  add("event_streams_refused_total", "counter", "", figures.refused_streams);
  add("uploaded_bytes_total", "counter", "", figures.uploaded_bytes);
  add("resident_bytes", "gauge", "", own_memory());
  if (services.loaded_models) {
    const auto loaded = services.loaded_models();
    std::int64_t active = 0;
    for (const auto& model : loaded) active += model["active"].get<std::int64_t>();
    add("language_models_loaded", "gauge", "", static_cast<std::int64_t>(loaded.size()));
    add("language_model_texts", "gauge", "", active);
  }
  return text;
}

Json session_json(Services& services) {
  const auto& facts = services.facts;
  auto families = Json::array();
  for (const auto& [name, summary] : facts.families) {
    families.push_back({{"name", name}, {"summary", summary}});
  }
  return {{"version", facts.version},
          {"api", 1},
          {"families", std::move(families)},
          {"device", services.usual_device()},
          {"has", {{"pull", facts.has_pull}, {"openai", facts.has_openai}}},
          {"loopback", facts.loopback},
          {"limits", {{"upload_bytes", facts.upload_bytes}}}};
}

}  // namespace

std::int64_t id_in_path(const Request& request, const std::string& name, const char* what) {
  const auto id = id_of(request.value(name));
  if (id == 0) missing(what, request.value(name));
  return id;
}

void add_session_routes(Router& router, Services& services) {
  const auto plain = [](std::string text) {
    Response response;
    response.type = "text/plain; charset=utf-8";
    response.body = std::move(text);
    return response;
  };
  router.add("GET", "/healthz", [plain](const Request&) { return plain("ok\n"); }, {.open = true});
  router.add("GET", "/metrics", [plain, &services](const Request&) {
    auto response = plain(metrics_text(services));
    response.type = "text/plain; version=0.0.4; charset=utf-8";
    return response;
  });
  router.add("GET", "/api/session",
             [&services](const Request&) { return json_answer(session_json(services)); });
  router.add("GET", "/api/commands",
             [&services](const Request&) { return json_answer(services.table.json()); });
}

}  // namespace ubique::serve

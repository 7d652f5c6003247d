// SPDX-License-Identifier: Apache-2.0
// /api/machine: what the program says about this machine and others, and how busy this one is.
#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/json_fields.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/serve/machine/ask.h"
#include "ubique/serve/routes/routes.h"

namespace ubique::serve {
namespace {

constexpr double kPlanSeconds = 60;

/// Words of letters, digits and a few signs: ids of profiles, keys. Never a path or a flag.
void check_plain(const std::string& word, const char* what) {
  const bool plain = !word.empty() && word.size() <= 100 &&
                     std::isalnum(static_cast<unsigned char>(word.front())) != 0 &&
                     std::ranges::all_of(word, [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                     });
  check(plain && word.find("..") == std::string::npos, ErrorKind::Usage,
        "[serve.plan] {}; got '{}', expected a name.", what, printable(word, 60));
}

std::string setting_text(const std::string& key, const Json& value) {
  check_plain(key, "a setting's name");
  check(value.is_string() || value.is_number() || value.is_boolean(), ErrorKind::Usage,
        "[serve.plan] setting '{}'; got {}, expected a number or a text.", key,
        printable(json_text(value), 60));
  const auto text = value.is_string() ? value.get<std::string>() : json_text(value);
  check(text.size() <= 200 && text.find('/') == std::string::npos &&
            text.find('\0') == std::string::npos,
        ErrorKind::Usage, "[serve.plan] setting '{}' is no number or word.", key);
  return "--set=" + key + "=" + text;
}

Response plan(const Request& request, Services& services) {
  JsonFields fields(request.json(), "serve.plan", "the plan");
  std::string family, mode;
  std::vector<std::string> machines;
  fields.take("family", family);
  fields.take("on", machines);
  fields.take("mode", mode);
  const auto options = fields.take_json("options");
  fields.finish();
  const auto families = services.table.families();
  check(std::ranges::find(families, family) != families.end(), ErrorKind::Usage,
        "[serve.plan] unknown family; got '{}', expected {}.{}", printable(family, 40),
        join(families, ", "), hint(family, families));
  std::vector<std::string> words = {"plan", family};
  for (const auto& machine : machines) check_plain(machine, "a profile");
  if (!machines.empty()) words.push_back("--on=" + join(machines, ","));
  if (!mode.empty()) {
    check(mode == "train" || mode == "run", ErrorKind::Usage,
          "[serve.plan] \"mode\"; got '{}', expected train or run.", printable(mode, 40));
    words.push_back("--mode=" + mode);
  }
  if (options.is_object()) {
    for (const auto& [key, value] : options.items()) words.push_back(setting_text(key, value));
  }
  return json_answer(ask_json(services.facts.program, words, kPlanSeconds));
}

}  // namespace

void add_machine_routes(Router& router, Services& services) {
  router.add("GET", "/api/machine", [&](const Request&) { return json_answer(services.info()); });
  router.add("POST", "/api/machine/plan", [&](const Request& r) { return plan(r, services); });
  router.add("GET", "/api/machine/profiles", [&](const Request&) {
    static const auto profiles =
        ask_json(services.facts.program, {"plan", "--list-profiles"}, kPlanSeconds);
    return json_answer(profiles);
  });
  router.add("GET", "/api/machine/activity",
             [&](const Request&) { return json_answer(services.activity.now().json()); });
}

}  // namespace ubique::serve

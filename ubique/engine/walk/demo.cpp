// SPDX-License-Identifier: Apache-2.0
// Requests of a demo's commands, and its training.
#include "ubique/engine/walk/demo.h"

#include "ubique/plan/wishes.h"

namespace ubique::engine {
namespace {

/// What the person asked of the plan (--threads, --dtype, --memory, ...) counts in every command.
void carry_wishes(const Config& asked, Config& own) {
  for (const auto& key : plan::wish_keys()) {
    if (key == "mode") continue;  // each command's own
    if (const auto value = asked.find<std::string>(key)) own.set_flag(key, *value);
  }
}

}  // namespace

Request demo_request(const Request& request, const DemoFlags& flags,
                     const std::filesystem::path& output, bool on_device) {
  Request own = request;
  own.config = Config();
  own.output = output;
  for (const auto& [key, value] : flags) own.config.set_flag(key, value);
  if (on_device) carry_wishes(request.config, own.config);
  return own;
}

TrainResult train_demo(Request own, const MakeTask& make_task) {
  own.config.set_flag("resume", std::filesystem::exists(own.output) ? "true" : "false");
  Session session(own, plan::Mode::Train);
  return train_walk(session, own, make_task).result;
}

Outcome interrupted_demo() {
  Outcome outcome;
  outcome.json = json_document("demo", 1);
  outcome.text = "interrupted; the same command goes on where it was\n";
  outcome.code = ExitCode::Interrupted;
  return outcome;
}

}  // namespace ubique::engine

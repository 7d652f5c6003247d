// SPDX-License-Identifier: Apache-2.0
#include "ubique/engine/demo.h"

#include "ubique/base/terminal/log.h"
#include "ubique/engine/session/session.h"

namespace ubique::engine {

Request demo_request(const Request& request, const DemoFlags& flags,
                     const std::filesystem::path& output, bool on_device) {
  Request own = request;
  own.config = Config();
  own.output = output;
  for (const auto& [key, value] : flags) own.config.set_flag(key, value);
  if (on_device) {
    own.config.set_flag("device", request.config.get<std::string>("device", "auto"));
  }
  return own;
}

TrainResult train_demo(const Request& own,
                       const std::function<std::unique_ptr<Task>(const Request&)>& make_task) {
  const auto wishes = plan::read_wishes(own.config);
  const auto task = make_task(own);
  own.config.finish();
  const auto session = open_session(task->model().needs(), wishes, own.fallback);
  log::info("Using device: {}", session.device.facts.label());
  TrainOptions options;
  options.folder = own.output;
  options.resume = std::filesystem::exists(own.output);
  options.progress = own.progress;
  options.stop_requested = own.stop_requested;
  return train(*task, session.plan, options);
}

Outcome interrupted_demo() {
  Outcome outcome;
  outcome.json = json_document("demo", 1);
  outcome.text = "interrupted; the same command goes on where it was\n";
  outcome.code = ExitCode::Interrupted;
  return outcome;
}

}  // namespace ubique::engine

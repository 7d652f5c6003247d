// SPDX-License-Identifier: Apache-2.0
// The session and the walk behind the library's calls.
#include "ubique/engine/walk/library.h"

#include "ubique/engine/session/device_summary.h"
#include "ubique/engine/walk/train_walk.h"

namespace ubique::engine {

std::string device_summary_of(const Config& config, bool verbose) {
  Request request;
  request.config = config;
  Session session(request, plan::Mode::Train);
  return summary_block(session.device(), verbose);
}

FamilyRun train_family(const std::string& family, Config config,
                       const std::filesystem::path& output) {
  const auto& found = find_family(family);
  adopt_keys(found.train_command(), config);
  Request request;
  request.config = std::move(config);
  request.output = output;
  Session session(request, plan::Mode::Train);
  const auto make_task = [&](const Request& own) { return found.task(own); };
  const auto result = train_walk(session, request, make_task).result;
  return {result.steps, result.train_loss};
}

}  // namespace ubique::engine

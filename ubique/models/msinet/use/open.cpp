// SPDX-License-Identifier: Apache-2.0
// Models from checkpoints, files and folders of named weights; the inference session.
#include "ubique/models/msinet/use/open.h"

#include "ubique/engine/walk/open_model.h"
#include "ubique/models/msinet/files/named_weights.h"
#include "ubique/models/msinet/files/weight_files.h"
#include "ubique/models/msinet/net/network.h"

namespace ubique::msinet {

MsiNetFile open_file(const std::filesystem::path& path) {
  auto checkpoint = engine::open_checkpoint(path, "msinet");
  if (!checkpoint) return load_any(path);
  return {msinet::from_json(checkpoint->config, path.string()), std::move(checkpoint->model),
          "checkpoint", false};
}

MsiNetFile open_file(const engine::Request& request, engine::Session& session) {
  const auto dataset = request.config.get<std::string>("dataset", "");
  if (!holds_named_weights(request.model)) return open_file(std::filesystem::path(request.model));
  const auto& backend = session.device().facts.backend;
  return load_any(find_best(request.model, dataset, weight_device_name(backend)));
}

void start_run_session(engine::Session& session, const engine::Request& request,
                       const MsiNetConfig& config, std::int64_t batch) {
  auto needs = needs_of(config, config.size);
  needs.run_batch = batch;
  engine::start_run_session(session, request, needs);
}

}  // namespace ubique::msinet

// SPDX-License-Identifier: Apache-2.0
// Models from checkpoints and foreign files; the session for inference.
#include "ubique/models/meshnet/use/open.h"

#include "ubique/engine/walk/open_model.h"
#include "ubique/models/meshnet/files/import.h"
#include "ubique/models/meshnet/net/needs.h"

namespace ubique::meshnet {

MeshNetFile open_file(const std::filesystem::path& path) {
  auto checkpoint = engine::open_checkpoint(path, "meshnet");
  if (!checkpoint) return load_any(path);
  auto config = meshnet::from_json(checkpoint->config, path.string());
  check_weights(config, checkpoint->model, path.string());
  return {std::move(config), std::move(checkpoint->model), "checkpoint"};
}

engine::Session open_run_session(const MeshNetConfig& config, const engine::Request& request) {
  return engine::open_run_session(request, needs_of(config, config.preprocessing.shape));
}

}  // namespace ubique::meshnet

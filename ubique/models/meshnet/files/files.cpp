// SPDX-License-Identifier: Apache-2.0
// What the commands share: models from any file, and the session of a network that only runs.
#include "ubique/models/meshnet/commands/commands.h"
#include "ubique/models/meshnet/net/network.h"

namespace ubique::meshnet {

MeshNetFile open_file(const std::filesystem::path& given) {
  const auto path = engine::model_path(given);
  if (!engine::is_checkpoint(path)) return load_any(path);
  auto checkpoint = engine::load_checkpoint(path, /*with_trainer=*/false);
  check(checkpoint.family == "meshnet", ErrorKind::Input,
        "[meshnet.open] {} is a model of another family; got {}, expected meshnet.", path.string(),
        checkpoint.family);
  return {meshnet::from_json(checkpoint.config, path.string()), std::move(checkpoint.model),
          "checkpoint"};
}

engine::Session open_run_session(const MeshNetConfig& config, const engine::Request& request) {
  auto wishes = plan::read_wishes(request.config);
  wishes.mode = plan::Mode::Run;
  request.config.finish();
  auto session =
      engine::open_session(needs_of(config, config.preprocessing.shape), wishes, request.fallback);
  engine::apply(session.plan);
  return session;
}

}  // namespace ubique::meshnet

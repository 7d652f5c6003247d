// SPDX-License-Identifier: Apache-2.0
// Models from checkpoints, files and folders of named weights; the inference session.
#include "ubique/models/msinet/use/open.h"

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/models/msinet/files/named_weights.h"
#include "ubique/models/msinet/files/weight_files.h"
#include "ubique/models/msinet/net/network.h"

namespace ubique::msinet {

MsiNetFile open_file(const std::filesystem::path& given) {
  const auto path = engine::model_path(given);
  if (!engine::is_checkpoint(path)) return load_any(path);
  auto checkpoint = engine::load_checkpoint(path, /*with_trainer=*/false);
  check(checkpoint.family == "msinet", ErrorKind::Input,
        "[msinet.open] {} is a model of another family; got {}, expected msinet.", path.string(),
        checkpoint.family);
  return {msinet::from_json(checkpoint.config, path.string()), std::move(checkpoint.model),
          "checkpoint", false};
}

MsiNetFile open_file(const engine::Request& request) {
  const auto dataset = request.config.get<std::string>("dataset", "");
  if (!holds_named_weights(request.model)) return open_file(std::filesystem::path(request.model));
  engine::Session session(request, plan::Mode::Run);
  const auto& backend = session.device().facts.backend;
  return load_any(find_best(request.model, dataset, weight_device_name(backend)));
}

engine::Session open_run_session(const MsiNetConfig& config, const engine::Request& request,
                                 std::int64_t batch) {
  auto needs = needs_of(config, config.size);
  needs.run_batch = batch;
  return engine::open_run_session(request, needs);
}

}  // namespace ubique::msinet

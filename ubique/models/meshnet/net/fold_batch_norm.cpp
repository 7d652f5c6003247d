// SPDX-License-Identifier: Apache-2.0
// Batch norms worked into the convolutions in front of them.
#include <ATen/ATen.h>

#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

MeshNetFile fold_batch_norm(const MeshNetFile& file) {
  if (file.config.norm != Norm::Batch) return file;
  MeshNetFile folded{file.config, {}, file.form};
  folded.config.norm = Norm::None;
  folded.config.bias = true;
  const auto find = [&](const std::string& name) {
    const auto tensor = engine::find_tensor(file.tensors, name);
    check(tensor.defined(), ErrorKind::Input, "[meshnet.fold] the weights lack '{}'.", name);
    return tensor.detach().cpu().to(at::kDouble);
  };
  for (std::size_t i = 0; i < file.config.layers(); ++i) {
    const auto conv = fmt::format("network.{}.conv.", i), bn = fmt::format("network.{}.bn.", i);
    const auto scale =
        find(bn + "weight") / (find(bn + "running_var") + kNormEpsilon).sqrt();  // (C)
    auto shift = -find(bn + "running_mean");
    if (file.config.bias) shift = shift + find(conv + "bias");
    const auto weight = find(conv + "weight") * scale.view({-1, 1, 1, 1, 1});
    folded.tensors.emplace_back(conv + "weight", weight.to(at::kFloat));
    folded.tensors.emplace_back(conv + "bias", (find(bn + "bias") + shift * scale).to(at::kFloat));
  }
  for (const auto* field : {"weight", "bias"}) {
    const auto name = fmt::format("network.{}.{}", file.config.layers(), field);
    folded.tensors.emplace_back(name, find(name).to(at::kFloat));
  }
  return folded;
}

}  // namespace ubique::meshnet

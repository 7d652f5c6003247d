// SPDX-License-Identifier: Apache-2.0
// The transformer's needs with its weights in groups.
#include "ubique/models/acestep/net/train_needs.h"

#include <algorithm>

#include "ubique/models/acestep/net/dit.h"
#include "ubique/models/acestep/net/needs.h"

namespace ubique::acestep {
namespace {

/// Parameters that AcestepModel::blocks() lists.
std::int64_t numbers_in_blocks(const DitConfig& config) {
  nn::NamedShapes shapes = parameter_shapes(config);
  std::erase_if(shapes, [](const auto& item) {
    const auto& name = item.first;
    return !name.starts_with(kBlockPrefix) ||
           std::ranges::any_of(kReadBeforeBlocks, [&](const char* part) {
             return name.find(part) != std::string::npos;
           });
  });
  return nn::count_values(shapes);
}

std::vector<plan::ParameterGroup> train_groups(const DitConfig& config, const TrainUse& use) {
  const auto count = nn::count_values(parameter_shapes(config));
  std::vector<plan::ParameterGroup> groups;
  if (use.adapters == 0) {
    groups.push_back({"transformer", count, true, 0, numbers_in_blocks(config)});
  } else {
    if (use.quantized > 0) {
      groups.push_back({"quantised", use.quantized, false, use.quantized_bytes});
    }
    const auto in_blocks = use.quantized > 0 ? 0 : numbers_in_blocks(config);
    groups.push_back({"transformer", count - use.quantized, false, 0, in_blocks});
    groups.push_back({"adapter", use.adapters, true, 0});
  }
  if (use.text > 0) groups.push_back({"text encoder", use.text, use.text_trained, 0});
  return groups;
}

}  // namespace

plan::Needs train_needs(const DitConfig& config, const TrainUse& use) {
  constexpr double kFramesPerSecond = 44100.0 / 4096;
  const SongSize song{.seconds = (static_cast<double>(use.size.frames) + 0.5) / kFramesPerSecond,
                      .branches = 1,
                      .context = use.size.context};
  auto needs = transformer_needs(config, song);
  needs.parameters = train_groups(config, use);
  needs.blocks = config.layers;
  needs.weight_averages = use.size.averaged ? 1 : 0;
  needs.effective_batch = use.size.effective_batch;
  needs.dropout = config.lyric.dropout > 0;
  return needs;
}

}  // namespace ubique::acestep

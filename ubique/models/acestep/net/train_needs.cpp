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
    const auto packed = use.quantized.numbers;
    if (packed > 0) {
      groups.push_back({"quantised", packed, false,
                        static_cast<double>(use.quantized.bytes) / static_cast<double>(packed)});
    }
    const auto in_blocks = packed > 0 ? 0 : numbers_in_blocks(config);
    groups.push_back({"transformer", count - packed, false, 0, in_blocks});
    groups.push_back({"adapter", use.adapters, true, 0});
  }
  if (use.text > 0) groups.push_back({"text encoder", use.text, use.text_trained, 0});
  return groups;
}

/// Values of one block that a pass over one song keeps on CUDA. Attention's products, the rotation
/// and the gated convolution are computed again from their inputs.
struct BlockValues {
  std::int64_t all = 0;      ///< of the whole block
  std::int64_t outside = 0;  ///< of them, its input, and keys and values of the context
};

BlockValues block_values(const DitConfig& config, const SampleSize& size, bool whole) {
  const auto d = config.hidden(), inner = config.inner();
  // Under adapters: the input, its norm, q, k, v, what linear attention read, the sum with it, q,
  // result and rows of cross-attention, the sum with that. Trained weights also keep the inputs of
  // the feed-forward layer's products, and gates what they multiply.
  const auto per_frame = whole ? 14 * d + 3 * inner : 11 * d + 2 * inner;
  const auto context = 3 * size.context * d;
  return {size.frames * per_frame + context, size.frames * d + context};
}

/// f32 values of the lyric encoder, which is never checkpointed: scores of all pairs of tokens, and
/// half as many bytes for each value of its layers.
std::int64_t lyric_values(const LyricConfig& config, std::int64_t tokens) {
  const auto scores = 3 * config.heads * tokens * tokens;
  return config.layers * (scores + tokens * (12 * config.hidden + 3 * config.inner) / 2);
}

void set_activations(const DitConfig& config, const TrainUse& use, plan::Needs& needs) {
  const auto block = block_values(config, use.size, use.adapters == 0);
  auto& activations = needs.activations;
  activations.saved_cuda = config.layers * block.all;
  activations.loss += lyric_values(config.lyric, use.size.context);
  // The gradient of the gated convolution in sums of shifted frames.
  activations.transient = 12 * use.size.frames * config.inner();
  activations.loss_piece = use.quantized.largest * 3 / 2;  // in f32 and in the compute dtype
  needs.checkpointing.kept =
      std::min(1.0, static_cast<double>(block.outside) / static_cast<double>(block.all) +
                        1.0 / static_cast<double>(config.layers));
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
  needs.graph_capturable = true;
  needs.train_capturable = !use.size.features;
  needs.shapes_repeat = true;  // tokens come in multiples, frames often in crops
  set_activations(config, use, needs);
  return needs;
}

}  // namespace ubique::acestep

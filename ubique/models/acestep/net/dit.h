// SPDX-License-Identifier: Apache-2.0
// The diffusion transformer with its embeddings, the lyric encoder and the projectors of the
// training losses. Predicts the velocity of noisy latents.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ubique/engine/contract/block_weights.h"
#include "ubique/models/acestep/net/dit_block.h"
#include "ubique/models/acestep/net/lyric_encoder.h"

namespace ubique::acestep {

struct DitWeights {
  std::vector<DitBlock> blocks;
  nn::LinearWeights time_1, time_2, time_modulation;
  nn::LinearWeights speaker, text, lyric_output;
  at::Tensor lyric_tokens;  ///< (V, H)
  LyricWeights lyric;
  std::vector<std::array<nn::LinearWeights, 3>> projectors;
  nn::WeightAndBias patch, patch_norm, patch_output;
  at::Tensor final_modulation;  ///< (2, D)
  nn::LinearWeights final;
};

/// What a song is made from.
struct DitCondition {
  at::Tensor text, text_mask;        ///< (B, S, text size), (B, S)
  at::Tensor speaker;                ///< (B, speaker size)
  at::Tensor lyric_ids, lyric_mask;  ///< (B, L) i64; no lyrics: one id 0 with mask 0
  /// (B, E) i64, where each token of the context comes from: with the padding of each item behind
  /// its tokens, their positions do not depend on the other items. Undefined = as they come.
  at::Tensor order = {};
};

/// The condition as the blocks see it.
struct DitContext {
  at::Tensor tokens;                   ///< (B, E, D): speaker, text, lyrics
  at::Tensor mask;                     ///< (B, E) f32, 1 = read
  std::vector<ContextKeys> keys = {};  ///< of each block
};

struct DitInput {
  at::Tensor latents;       ///< (B, channels, 16, T), noisy
  at::Tensor timestep;      ///< (B), 0 to 1000, or (1) for all items
  at::Tensor frames = {};   ///< (B, T) 1 = a frame, 0 = padding; undefined = no padding
  at::Tensor control = {};  ///< (B, T, D) or undefined: added to the embedded frames
  double control_scale = 1;
  /// Padding changes nothing of an item: its frames are as they would be alone. Otherwise, as in
  /// the original, the norm of the embedding and the convolutions read the padding.
  bool exact_padding = false;
};

struct DitOptions {
  bool training = false;                  ///< dropout
  bool recompute = false;                 ///< gradient checkpointing
  engine::BlockWeights* split = nullptr;  ///< has the blocks' weights, where they are split
  /// Blocks whose cross-attention is weak (ERG guidance), and (B) what each item's queries are
  /// multiplied by there. Linear attention is left alone: a factor of its queries cancels.
  LayerRange weakened = {};
  at::Tensor query_scale = {};
};

struct DitOutput {
  at::Tensor velocity;                  ///< (B, channels, 16, T)
  std::vector<at::Tensor> projections;  ///< (B, T, ssl size) of each projector, if asked for
};

class Dit final : public nn::Network {
 public:
  /// Parameters are zero.
  explicit Dit(const DitConfig& config, const at::TensorOptions& options = {});

  const DitConfig& config() const { return config_; }
  const DitWeights& weights() const { return weights_; }

  /// The layers of blocks and lyric encoder, by the names of their weights. The few others are
  /// small: embeddings of time, frames and tokens, and the last.
  std::map<std::string, nn::LinearWeights*> heavy_layers();
  /// Those of them that can be kept in a format.
  std::map<std::string, nn::LinearWeights*> quantizable_layers(kernels::QuantFormat format);
  /// Keeps those in fewer bits from now on, for inference or under adapters.
  void quantize(kernels::QuantFormat format, bool double_quantized = false);
  void move_quantized(c10::Device device);  ///< beside to(), which does not know them

  /// Sinusoids of timesteps (B), cosines first: (B, 256) f32.
  static at::Tensor time_sinusoids(const at::Tensor& timestep);
  at::Tensor embed_time(const at::Tensor& timestep) const;  ///< (B) to (B, D)
  /// (B, C, 16, T) to (B, T, D). With `frames` (B, T), only those count in the norm.
  at::Tensor embed_frames(const at::Tensor& latents, const at::Tensor& frames = {}) const;
  /// Hidden states of lyrics before their projection: ids (B, L) to (B, L, H).
  at::Tensor encode_lyrics(const at::Tensor& ids, const at::Tensor& mask, bool training = false,
                           const LayerRange& weakened = {}) const;
  /// Everything that does not depend on the latents; once per song.
  DitContext encode(const DitCondition& condition, bool training = false,
                    const LayerRange& weak_lyrics = {}) const;
  /// Sets the keys of a context whose tokens are known.
  void prepare(DitContext& context, bool training = false) const;

  DitOutput forward(const DitInput& input, const DitContext& context,
                    const DitOptions& options = {}, bool with_projections = false) const;
  /// What passes keep beside the parameters: a recorded one reads them too.
  std::vector<at::Tensor> tables() const { return {cos_, sin_, lyric_offsets_}; }

 private:
  void visit(nn::ParameterWalk& walk) override;
  DitPass make_pass(const DitInput& input, const at::Tensor& embedded_time,
                    const DitContext& context, bool training) const;
  at::Tensor run(std::size_t layer, const at::Tensor& x, const DitContext& context,
                 const DitPass& pass, const DitOptions& options) const;
  at::Tensor project(std::size_t index, const at::Tensor& x, bool training) const;
  at::Tensor finish(const at::Tensor& x, const at::Tensor& embedded_time) const;

  DitConfig config_;
  DitWeights weights_;
  mutable at::Tensor cos_, sin_;      // rotary tables on the device of the last pass
  mutable at::Tensor lyric_offsets_;  // lyric_offsets() there
  at::Tensor offsets_of(const at::Tensor& lyrics) const;
  void set_tables(std::int64_t length, c10::Device device) const;
};

/// Names and shapes of the parameters, allocating nothing.
nn::NamedShapes parameter_shapes(const DitConfig& config);
/// Before the number of a block, in names.
inline constexpr const char* kBlockPrefix = "transformer_blocks.";
/// In names of a block's parameters that are read before the first block: keys and values of the
/// context are computed for all of them at once.
inline constexpr const char* kReadBeforeBlocks[] = {".cross_attn.to_k.", ".cross_attn.to_v."};
/// How many weights quantize() changes.
std::int64_t quantized_values(const DitConfig& config, kernels::QuantFormat format);
/// Tensors that the released files have too, but that no pass reads.
nn::NamedShapes unused_shapes(const DitConfig& config);

}  // namespace ubique::acestep

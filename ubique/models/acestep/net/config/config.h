// SPDX-License-Identifier: Apache-2.0
// The configurations of the four networks of ACE-Step, read from the config.json beside each one's
// weights. Sizes default to the released ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ubique/base/text/json_fwd.h"

namespace ubique::acestep {

using Sizes = std::vector<std::int64_t>;

/// The text encoder, UMT5.
struct Umt5Config {
  std::int64_t vocabulary = 256384, hidden = 768, head_size = 64, inner = 2048;
  std::int64_t layers = 12, heads = 12;
  std::int64_t buckets = 32, max_distance = 128;  ///< of the relative position bias
  double norm_eps = 1e-6;
};

/// The lyric encoder, part of the transformer's files.
struct LyricConfig {
  std::int64_t vocabulary = 6693;
  std::int64_t hidden = 1024, heads = 16, inner = 4096, layers = 6;
  double dropout = 0.1;  ///< in training
};

/// The diffusion transformer.
struct DitConfig {
  std::int64_t in_channels = 8, out_channels = 8, layers = 24;
  std::int64_t heads = 20, head_size = 128;
  std::int64_t patch_height = 16;  ///< all rows of the latents are one patch
  double mlp_ratio = 2.5;
  std::int64_t max_position = 32768;
  double rope_theta = 1e6;
  std::int64_t speaker_size = 512, text_size = 768;
  LyricConfig lyric = {};
  std::vector<std::string> ssl_names = {"mert", "m-hubert"};
  Sizes ssl_depths = {8, 8};  ///< block after which each projector reads
  Sizes ssl_sizes = {1024, 768};
  bool projectors = true;  ///< only training needs them

  std::int64_t hidden() const { return heads * head_size; }
  std::int64_t inner() const;           ///< of the feed-forward layer, one half of the gate
  std::int64_t patch_channels() const;  ///< between the two convolutions of the patch embedding
};

/// One side of the autoencoder; lists have an entry per level, finest first.
struct DcaeSide {
  Sizes channels = {128, 256, 512, 1024};
  Sizes layers = {3, 3, 3, 3};
  std::vector<bool> attention = {false, false, false, true};  ///< EfficientViT instead of ResBlocks
  std::vector<Sizes> multiscales = {{}, {}, {5}, {5}};  ///< kernels, for levels with attention
};

/// The autoencoder of spectrograms, diffusers' AutoencoderDC.
struct DcaeConfig {
  std::int64_t in_channels = 2, latent_channels = 8, head_size = 32;
  DcaeSide encoder = {.layers = {2, 2, 3, 3}};
  DcaeSide decoder = {};
};

/// The vocoder, ADaMoSHiFiGANV1: a ConvNeXt backbone and a HiFi-GAN head.
struct VocoderConfig {
  std::int64_t mels = 128;
  Sizes depths = {3, 3, 9, 3}, dims = {128, 256, 384, 512};
  std::int64_t kernel = 7;
  Sizes upsample_rates = {4, 4, 2, 2, 2, 2, 2}, upsample_kernels = {8, 8, 4, 4, 4, 4, 4};
  Sizes resblock_kernels = {3, 7, 11, 13};
  std::vector<Sizes> resblock_dilations = {{1, 3, 5}, {1, 3, 5}, {1, 3, 5}, {1, 3, 5}};
  std::int64_t initial_channels = 1024, pre_kernel = 13, post_kernel = 13;
  Sizes upsample_channels = {};  ///< after each step; empty, as in the original: halved by each
  std::int64_t sample_rate = 44100, fft = 2048, hop = 512;

  std::int64_t channels_after(std::size_t stage) const;  ///< of upsampling stage 0, 1, ...
};

/// Read a config.json. Input errors name `where`, the key and what is supported; keys that do not
/// describe the network are ignored.
Umt5Config parse_umt5_config(const Json& json, const std::string& where);
DitConfig parse_dit_config(const Json& json, const std::string& where);
DcaeConfig parse_dcae_config(const Json& json, const std::string& where);
VocoderConfig parse_vocoder_config(const Json& json, const std::string& where);

}  // namespace ubique::acestep

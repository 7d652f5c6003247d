// SPDX-License-Identifier: Apache-2.0
// The keys of each config.json, and which sizes fit together.
#include "ubique/models/acestep/net/config/config.h"

#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/models/acestep/net/config/config_reader.h"

namespace ubique::acestep {
namespace {

constexpr std::int64_t kConvChannelsPerInput = 256;  // fixed in the original
constexpr std::int64_t kMostLayers = 1024;

void check_layers(const ConfigReader& reader, const char* key, std::int64_t layers) {
  if (layers > kMostLayers) reader.refuse(key, fmt::format("at most {}", kMostLayers));
}

void check_lyric(const ConfigReader& reader, const DitConfig& config, std::int64_t embedded) {
  const auto& lyric = config.lyric;
  check_layers(reader, "lyric_encoder_blocks", lyric.layers);
  check(embedded == lyric.hidden, ErrorKind::Input,
        "[acestep.config] {}: lyric_hidden_size is {}, expected {}: the lyric encoder's size.",
        reader.where(), embedded, lyric.hidden);
  check(lyric.hidden % (2 * lyric.heads) == 0, ErrorKind::Input,
        "[acestep.config] {}: {} lyric heads cannot share {} values; expected heads of an even "
        "size.",
        reader.where(), lyric.heads, lyric.hidden);
}

void check_ssl(const ConfigReader& reader, const DitConfig& config) {
  const auto count = config.ssl_names.size();
  check(config.ssl_depths.size() == count && config.ssl_sizes.size() == count, ErrorKind::Input,
        "[acestep.config] {}: ssl_names, ssl_encoder_depths and ssl_latent_dims have {}, {} and {} "
        "entries, expected as many of each.",
        reader.where(), count, config.ssl_depths.size(), config.ssl_sizes.size());
  for (const auto depth : config.ssl_depths) {
    if (depth >= config.layers) reader.refuse("ssl_encoder_depths", "numbers of blocks, from 0");
  }
}

/// One side's lists, all as long as the list of channels.
DcaeSide read_side(const ConfigReader& reader, const std::string& side, DcaeSide value) {
  const auto key = [&](const char* name) { return side + name; };
  std::vector<std::string> types;
  reader.sizes(key("_block_out_channels").c_str(), value.channels);
  reader.sizes(key("_layers_per_block").c_str(), value.layers);
  reader.lists(key("_qkv_multiscales").c_str(), value.multiscales);
  reader.words(key("_block_types").c_str(), types);
  if (!types.empty()) value.attention.clear();
  for (const auto& type : types) {
    const bool known = type == "ResBlock" || type == "EfficientViTBlock";
    if (!known) reader.refuse(key("_block_types").c_str(), "ResBlock or EfficientViTBlock");
    value.attention.push_back(type == "EfficientViTBlock");
  }
  const auto levels = value.channels.size();
  check(levels >= 1 && value.layers.size() == levels && value.attention.size() == levels &&
            value.multiscales.size() == levels,
        ErrorKind::Input,
        "[acestep.config] {}: the lists of the {} have {}, {}, {} and {} entries, expected one "
        "per level in each.",
        reader.where(), side, levels, value.layers.size(), value.attention.size(),
        value.multiscales.size());
  return value;
}

/// Shortcuts repeat or average whole groups of channels.
void check_side(const ConfigReader& reader, const DcaeConfig& config, const DcaeSide& side) {
  const auto fits = [&](bool condition, const char* what, std::int64_t a, std::int64_t b) {
    check(condition, ErrorKind::Input,
          "[acestep.config] {}: {} of {} and {} channels; expected a whole number of groups.",
          reader.where(), what, a, b);
  };
  fits(side.channels.back() % config.latent_channels == 0, "latents cannot be a shortcut",
       config.latent_channels, side.channels.back());
  for (std::size_t i = 0; i < side.channels.size(); ++i) {
    const auto own = side.channels[i];
    if (side.attention[i]) {
      fits(own % config.head_size == 0, "attention heads cannot share", config.head_size, own);
    }
    if (i + 1 == side.channels.size()) break;
    const auto next = side.channels[i + 1];
    fits((4 * own) % next == 0, "a level cannot follow another", own, next);
  }
}

void check_vocoder(const ConfigReader& reader, const VocoderConfig& config) {
  const auto same = [&](std::size_t a, std::size_t b, const char* what) {
    check(a == b && a >= 1, ErrorKind::Input,
          "[acestep.config] {}: {} have {} and {} entries, expected as many.", reader.where(), what,
          a, b);
  };
  same(config.depths.size(), config.dims.size(), "depths and dims");
  same(config.upsample_rates.size(), config.upsample_kernels.size(),
       "upsample_rates and upsample_kernel_sizes");
  same(config.resblock_kernels.size(), config.resblock_dilations.size(),
       "resblock_kernel_sizes and resblock_dilation_sizes");
  if (!config.upsample_channels.empty()) {
    same(config.upsample_rates.size(), config.upsample_channels.size(),
         "upsample_rates and upsample_channels");
  }
  std::int64_t total = 1;
  for (std::size_t i = 0; i < config.upsample_rates.size(); ++i) {
    const auto rate = config.upsample_rates[i], kernel = config.upsample_kernels[i];
    if (kernel < rate || (kernel - rate) % 2 != 0) {
      reader.refuse("upsample_kernel_sizes",
                    "kernels as long as their rate, or longer by 2, 4, ...");
    }
    total *= rate;
    if (total > config.hop) break;
  }
  check(total == config.hop, ErrorKind::Input,
        "[acestep.config] {}: upsample_rates make {} samples of a frame, expected hop_length {}.",
        reader.where(), total, config.hop);
  check(config.channels_after(config.upsample_rates.size() - 1) >= 1, ErrorKind::Input,
        "[acestep.config] {}: upsample_initial_channel is {}, too few to be halved {} times.",
        reader.where(), config.initial_channels, config.upsample_rates.size());
}

}  // namespace

std::int64_t DitConfig::inner() const {
  return static_cast<std::int64_t>(static_cast<double>(hidden()) * mlp_ratio);
}

std::int64_t DitConfig::patch_channels() const { return in_channels * kConvChannelsPerInput; }

std::int64_t VocoderConfig::channels_after(std::size_t stage) const {
  return upsample_channels.empty() ? initial_channels >> (stage + 1) : upsample_channels[stage];
}

Umt5Config parse_umt5_config(const Json& json, const std::string& where) {
  const ConfigReader reader(json, where);
  reader.must_be("feed_forward_proj", "gated-gelu");
  Umt5Config config;
  reader.size("vocab_size", config.vocabulary);
  reader.size("d_model", config.hidden);
  reader.size("d_kv", config.head_size);
  reader.size("d_ff", config.inner);
  reader.size("num_layers", config.layers);
  reader.size("num_heads", config.heads);
  reader.size("relative_attention_num_buckets", config.buckets);
  reader.size("relative_attention_max_distance", config.max_distance);
  reader.number("layer_norm_epsilon", config.norm_eps);
  check_layers(reader, "num_layers", config.layers);
  if (config.buckets % 4 != 0) {
    reader.refuse("relative_attention_num_buckets", "a multiple of 4");
  }
  if (config.max_distance <= config.buckets / 4) {
    reader.refuse("relative_attention_max_distance", "more than a quarter of the buckets");
  }
  return config;
}

DitConfig parse_dit_config(const Json& json, const std::string& where) {
  const ConfigReader reader(json, where);
  DitConfig config;
  reader.size("in_channels", config.in_channels);
  reader.size("out_channels", config.out_channels);
  reader.size("num_layers", config.layers);
  reader.size("num_attention_heads", config.heads);
  reader.size("attention_head_dim", config.head_size);
  reader.number("mlp_ratio", config.mlp_ratio);
  reader.size("max_position", config.max_position);
  reader.number("rope_theta", config.rope_theta);
  reader.size("speaker_embedding_dim", config.speaker_size);
  reader.size("text_embedding_dim", config.text_size);
  reader.words("ssl_names", config.ssl_names);
  reader.sizes("ssl_encoder_depths", config.ssl_depths, 0);
  reader.sizes("ssl_latent_dims", config.ssl_sizes);
  reader.size("lyric_encoder_vocab_size", config.lyric.vocabulary);
  auto embedded = config.lyric.hidden;
  reader.size("lyric_hidden_size", embedded);
  reader.size("lyric_encoder_dim", config.lyric.hidden);
  reader.size("lyric_encoder_heads", config.lyric.heads);
  reader.size("lyric_encoder_units", config.lyric.inner);
  reader.size("lyric_encoder_blocks", config.lyric.layers);
  Sizes patch = {config.patch_height, 1};
  auto height = config.patch_height;
  reader.sizes("patch_size", patch);
  reader.size("max_height", height);
  if (patch.size() != 2 || patch[0] != height || patch[1] != 1) {
    reader.refuse("patch_size", fmt::format("[{}, 1]: all rows, one frame", height));
  }
  config.patch_height = height;
  check_layers(reader, "num_layers", config.layers);
  if (config.head_size % 2 != 0) reader.refuse("attention_head_dim", "an even number");
  if (config.mlp_ratio > 64) reader.refuse("mlp_ratio", "at most 64");
  if (config.inner() < 1) reader.refuse("mlp_ratio", "at least one value of a hidden state");
  check_lyric(reader, config, embedded);
  check_ssl(reader, config);
  return config;
}

DcaeConfig parse_dcae_config(const Json& json, const std::string& where) {
  const ConfigReader reader(json, where);
  reader.must_be("downsample_block_type", "Conv");
  reader.must_be("upsample_block_type", "interpolate");
  reader.must_be("decoder_norm_types", "rms_norm");
  reader.must_be("decoder_act_fns", "silu");
  DcaeConfig config;
  reader.size("in_channels", config.in_channels);
  reader.size("latent_channels", config.latent_channels);
  reader.size("attention_head_dim", config.head_size);
  config.encoder = read_side(reader, "encoder", config.encoder);
  config.decoder = read_side(reader, "decoder", config.decoder);
  check_side(reader, config, config.encoder);
  check_side(reader, config, config.decoder);
  return config;
}

VocoderConfig parse_vocoder_config(const Json& json, const std::string& where) {
  const ConfigReader reader(json, where);
  reader.must_be("use_template", false);
  VocoderConfig config;
  reader.size("input_channels", config.mels);
  reader.sizes("depths", config.depths);
  reader.sizes("dims", config.dims);
  if (config.dims.empty()) reader.refuse("dims", "a size per stage");
  Sizes kernels = {config.kernel};
  reader.sizes("kernel_sizes", kernels);
  if (kernels.size() != 1 || kernels[0] % 2 == 0) reader.refuse("kernel_sizes", "one odd size");
  config.kernel = kernels[0];
  auto head_input = config.dims.back();
  reader.size("num_mels", head_input);
  if (head_input != config.dims.back()) reader.refuse("num_mels", "the last of dims");
  reader.sizes("upsample_rates", config.upsample_rates);
  reader.sizes("upsample_kernel_sizes", config.upsample_kernels);
  reader.sizes("resblock_kernel_sizes", config.resblock_kernels);
  reader.lists("resblock_dilation_sizes", config.resblock_dilations);
  reader.size("upsample_initial_channel", config.initial_channels);
  reader.sizes("upsample_channels", config.upsample_channels);
  reader.size("pre_conv_kernel_size", config.pre_kernel);
  reader.size("post_conv_kernel_size", config.post_kernel);
  reader.size("sampling_rate", config.sample_rate);
  reader.size("n_fft", config.fft);
  reader.size("hop_length", config.hop);
  check_vocoder(reader, config);
  return config;
}

}  // namespace ubique::acestep

// SPDX-License-Identifier: Apache-2.0
// Memory and arithmetic, counted by layer.
#include "ubique/models/acestep/net/needs.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/models/acestep/net/codec/dcae.h"
#include "ubique/models/acestep/net/codec/vocoder.h"
#include "ubique/models/acestep/net/dit.h"
#include "ubique/models/acestep/net/umt5.h"

namespace ubique::acestep {
namespace {

constexpr double kFramesPerSecond = 44100.0 / 4096;
constexpr std::int64_t kMelsPerFrame = 8;
constexpr std::int64_t kAliveTensors = 4;  // at once around a convolution, with its workspace
constexpr std::int64_t kTileMargin = 32;   // columns that finer steps read beyond a tile

std::int64_t frames_in(const SongSize& song) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(song.seconds * kFramesPerSecond));
}

/// Multiplications of one pass of the transformer over one item.
double pass_products(const DitConfig& config, const SongSize& song) {
  const auto d = static_cast<double>(config.hidden()), inner = static_cast<double>(config.inner());
  const auto frames = static_cast<double>(frames_in(song));
  const auto context = static_cast<double>(song.context);
  const auto layers = static_cast<double>(config.layers);
  const auto per_frame =
      6 * d * d + 3 * d * inner + 2 * d * static_cast<double>(config.head_size) + 2 * context * d;
  return layers * (frames * per_frame + 2 * context * d * d);
}

/// Values alive at the peak of a pass, for a frame of all branches: around the feed-forward layer.
double pass_values(const DitConfig& config, std::int64_t branches) {
  return static_cast<double>(branches) *
         static_cast<double>(5 * config.inner() + 5 * config.hidden());
}

/// Steps in the middle half take all branches, the others one.
double passes_of(const SongSize& song) {
  return static_cast<double>(song.steps) * (1 + 0.5 * static_cast<double>(song.branches - 1));
}

/// Multiplications of the vocoder for a frame of one channel's spectrogram.
double vocoder_products(const VocoderConfig& config) {
  double total = 0;
  for (std::size_t i = 0; i < config.dims.size(); ++i) {
    total += static_cast<double>(config.depths[i] * 8 * config.dims[i] * config.dims[i]);
  }
  auto before = config.initial_channels;
  total += static_cast<double>(before * config.dims.back() * config.pre_kernel);
  std::int64_t samples = 1, taps = 0;
  for (std::size_t k = 0; k < config.resblock_kernels.size(); ++k) {
    taps += 2 * config.resblock_kernels[k] *
            static_cast<std::int64_t>(config.resblock_dilations[k].size());
  }
  for (std::size_t i = 0; i < config.upsample_rates.size(); ++i) {
    const auto channels = config.channels_after(i);
    total += static_cast<double>(samples * before * channels * config.upsample_kernels[i]);
    samples *= config.upsample_rates[i];
    total += static_cast<double>(samples * channels * channels * taps);
    before = channels;
  }
  return total;
}

/// Multiplications of the autoencoder's decoder for a frame of latents.
double dcae_products(const DcaeConfig& config) {
  double total = 0;
  std::int64_t positions = 16;  // of the coarsest level
  for (auto i = config.decoder.channels.size(); i-- > 0;) {
    const auto c = static_cast<double>(config.decoder.channels[i]);
    const auto block = config.decoder.attention[i] ? 20 * c * c : 18 * c * c;
    total += static_cast<double>(positions * config.decoder.layers[i]) * block;
    if (i > 0) {
      positions *= 4;
      total += static_cast<double>(positions * 9 * config.decoder.channels[i - 1]) * c;
    }
  }
  return total;
}

/// f32 values alive while a tile of that many latent frames is decoded.
std::int64_t decoding_values(const NetworkConfigs& networks, std::int64_t tile) {
  const auto columns = tile * kMelsPerFrame;
  const auto picture = networks.dcae.decoder.channels.front() * networks.vocoder.mels;
  std::int64_t widest = 0, samples = 1;  // of a channel, for a column
  for (std::size_t i = 0; i < networks.vocoder.upsample_rates.size(); ++i) {
    samples *= networks.vocoder.upsample_rates[i];
    widest = std::max(widest, samples * networks.vocoder.channels_after(i));
  }
  const auto waves = networks.dcae.in_channels * widest;
  return kAliveTensors * (columns + kTileMargin) * std::max(picture, waves);
}

std::vector<plan::ConvNeed> convs_of(const NetworkConfigs& networks, std::int64_t frames) {
  const auto& vocoder = networks.vocoder;
  const auto finest = networks.dcae.decoder.channels.front();
  const auto last = vocoder.channels_after(vocoder.upsample_rates.size() - 1);
  const auto columns = kMelsPerFrame * frames;
  return {{1, vocoder.dims.back(), vocoder.initial_channels, vocoder.pre_kernel, 1, columns},
          {1, last, last, vocoder.resblock_kernels.back(), 1, columns * vocoder.hop},
          {2, finest, finest, 3, 1, 0}};
}

/// The transformer's weights, those in fewer bits apart.
std::vector<plan::ParameterGroup> transformer_groups(const DitConfig& config,
                                                     const SongSize& song) {
  const auto all = nn::count_values(parameter_shapes(config));
  if (!song.weights) return {{"transformer", all, false, 0}};
  const auto packed = quantized_values(config, *song.weights);
  return {{"transformer, " + std::string(to_string(*song.weights)), packed, false,
           kernels::bytes_each(*song.weights)},
          {"transformer, the rest", all - packed, false, 0}};
}

/// Text, diffusion and decoding. The table of text tokens stays in its file.
std::vector<plan::StageNeed> song_stages(const NetworkConfigs& networks, const SongSize& song) {
  const auto& text = networks.text;
  auto used = networks.transformer;
  used.projectors = false;
  const auto frames = static_cast<double>(frames_in(song));
  const auto per_frame = pass_values(used, song.branches);
  const auto contexts = (1 + song.branches) * song.context * used.hidden();
  const auto encoder = nn::count_values(parameter_shapes(text)) - text.vocabulary * text.hidden;
  const auto per_token = 4 * text.hidden + 3 * text.inner;
  return {{"text", {{"text encoder", encoder, false, 0}}, song.context * per_token},
          {"diffusion", transformer_groups(used, song),
           static_cast<std::int64_t>(frames * per_frame) + (1 + 2 * used.layers) * contexts, 0,
           per_frame * kFramesPerSecond},
          {"decoding",
           {{"autoencoder", nn::count_values(parameter_shapes(networks.dcae)), false, 4},
            {"vocoder", nn::count_values(parameter_shapes(networks.vocoder)), false, 4}},
           0,
           decoding_values(networks, song.tile)}};
}

}  // namespace

plan::Needs transformer_needs(const DitConfig& config, const SongSize& song) {
  const auto frames = frames_in(song), d = config.hidden(), inner = config.inner();
  plan::Needs needs;
  needs.name = "acestep";
  needs.family = "acestep";
  needs.parameters = {{"transformer", nn::count_values(parameter_shapes(config)), true, 0}};
  auto& activations = needs.activations;
  activations.saved = config.layers * frames * (14 * d + 7 * inner);
  activations.saved_f32 = config.layers * frames * 8 * d;
  activations.loss = 4 * frames * config.patch_height * config.out_channels;
  activations.transient = 4 * frames * 2 * inner;
  activations.run =
      static_cast<std::int64_t>(static_cast<double>(frames) * pass_values(config, song.branches));
  activations.kv_cache = config.layers * 2 * song.branches * song.context * d;
  activations.largest = std::max(song.branches * frames * 2 * inner, d * 2 * inner);
  needs.flops_run = 2 * pass_products(config, song) * passes_of(song);
  needs.flops_train = 6 * pass_products(config, song);
  needs.inputs = {{"latents", {config.in_channels, config.patch_height, frames}, DType::F32}};
  needs.attention = {{.layers = config.layers,
                      .heads = config.heads,
                      .kv_heads = config.heads,
                      .head_dim = config.head_size,
                      .queries = frames,
                      .keys = song.context,
                      .mask = true}};
  needs.ops = {"matmul", "linear"};
  needs.tolerates_bf16 = needs.tolerates_f16 = true;
  needs.fixed_shapes = false;
  needs.optimizer = "adamw";
  needs.checkpointing.supported = true;
  needs.checkpointing.extra = 0.33;
  return needs;
}

plan::Needs song_needs(const NetworkConfigs& networks, const SongSize& song) {
  auto used = networks.transformer;
  used.projectors = false;
  auto needs = transformer_needs(used, song);
  const auto frames = frames_in(song);
  needs.graph_capturable = true;
  needs.stages = song_stages(networks, song);
  needs.length = {"seconds", song.seconds, kLongestPlanned};
  needs.parameters.clear();
  for (const auto& stage : needs.stages) {
    needs.parameters.insert(needs.parameters.end(), stage.parameters.begin(),
                            stage.parameters.end());
  }
  auto& activations = needs.activations;
  activations.saved = activations.saved_f32 = 0;  // inference only
  activations.kv_cache = 0;                       // among the stage's values
  activations.run = std::max(needs.stages[1].run, needs.stages[2].run_f32);
  activations.largest =
      std::max(activations.largest, decoding_values(networks, song.tile) / kAliveTensors);
  needs.flops_run +=
      2.0 * static_cast<double>(frames) *
      (dcae_products(networks.dcae) + 2 * kMelsPerFrame * vocoder_products(networks.vocoder));
  needs.convs = convs_of(networks, song.tile);
  return needs;
}

WeightFormat read_weight_format(const Config& config) {
  const auto form = config.get("weights", std::string());
  const auto format = kernels::parse_quant_format(form);
  check(form.empty() || format, ErrorKind::Usage,
        "[acestep.weights] unknown weights; got '{}', expected int8, int4 or nf4.",
        printable(form));
  return format;
}

plan::Needs read_song_needs(const Config& config) {
  SongSize song;
  song.seconds = config.get("seconds", song.seconds);
  song.steps = config.get("steps", song.steps);
  song.weights = read_weight_format(config);
  check(song.seconds > 0 && song.seconds <= kLongestPlanned, ErrorKind::Usage,
        "[acestep.plan] seconds is out of range; got {}, expected above 0, at most {:g}.",
        song.seconds, kLongestPlanned);
  check(song.steps >= 1 && song.steps <= 1000, ErrorKind::Usage,
        "[acestep.plan] steps is out of range; got {}, expected 1 to 1000.", song.steps);
  return song_needs(read_networks(config, "released"), song);
}

}  // namespace ubique::acestep

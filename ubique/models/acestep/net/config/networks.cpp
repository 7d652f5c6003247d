// SPDX-License-Identifier: Apache-2.0
// The tiny sizes, and settings that change them.
#include "ubique/models/acestep/net/config/networks.h"

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/engine/contract/request.h"
#include "ubique/models/acestep/net/config/config_json.h"

namespace ubique::acestep {
namespace {

constexpr const char* kSettings = "the settings";

DcaeConfig tiny_dcae() {
  DcaeConfig config{.head_size = 16};
  for (auto* side : {&config.encoder, &config.decoder}) {
    side->channels = {8, 16, 32, 64};
    side->layers = {1, 1, 1, 1};
    side->multiscales = {{}, {}, {}, {5}};
  }
  return config;
}

/// One step of upsampling: the waves of synthetic music repeat with every frame, so that sums of
/// learned waves are enough. The released vocoder has seven steps with blocks between them.
VocoderConfig tiny_vocoder() {
  VocoderConfig config;
  config.dims = {96, 96, 128};
  config.depths = {1, 1, 2};
  config.upsample_rates = {512};
  config.upsample_kernels = {1024};
  config.upsample_channels = {4};
  config.initial_channels = 192;
  config.pre_kernel = 3;
  config.post_kernel = 7;
  config.resblock_kernels = {3};
  config.resblock_dilations = {{}};
  return config;
}

/// Impossible sizes of settings are the person's, not a file's.
NetworkConfigs checked(const NetworkConfigs& networks) {
  try {
    return {.text = parse_umt5_config(config_json(networks.text), kSettings),
            .transformer = parse_dit_config(config_json(networks.transformer), kSettings),
            .dcae = parse_dcae_config(config_json(networks.dcae), kSettings),
            .vocoder = parse_vocoder_config(config_json(networks.vocoder), kSettings)};
  } catch (const Error& error) {
    throw Error(ErrorKind::Usage, error.what());
  }
}

}  // namespace

NetworkConfigs tiny_networks() {
  NetworkConfigs networks;
  networks.text = {
      .vocabulary = 512, .hidden = 64, .head_size = 16, .inner = 128, .layers = 2, .heads = 4};
  auto& transformer = networks.transformer;
  transformer.layers = 4;
  transformer.heads = 4;
  transformer.head_size = 32;
  transformer.speaker_size = 16;
  transformer.text_size = networks.text.hidden;
  transformer.lyric.hidden = 128;
  transformer.lyric.heads = 4;
  transformer.lyric.inner = 256;
  transformer.lyric.layers = 2;
  transformer.ssl_depths = {1, 1};
  transformer.ssl_sizes = {32, 24};
  networks.dcae = tiny_dcae();
  networks.vocoder = tiny_vocoder();
  return networks;
}

NetworkConfigs read_networks(const Config& config, const std::string& size) {
  const auto named = config.get("size", size);
  check(named == "tiny" || named == "released", ErrorKind::Usage,
        "[acestep.config] unknown size; got '{}', expected tiny or released.", printable(named));
  auto networks = named == "tiny" ? tiny_networks() : NetworkConfigs();
  auto& [text, transformer, dcae, vocoder] = networks;
  const auto take = [&](const char* key, std::int64_t& value) { value = config.get(key, value); };
  take("layers", transformer.layers);
  take("heads", transformer.heads);
  take("head_size", transformer.head_size);
  transformer.mlp_ratio = config.get("mlp_ratio", transformer.mlp_ratio);
  take("speaker_size", transformer.speaker_size);
  take("lyric_vocabulary_size", transformer.lyric.vocabulary);
  take("lyric_hidden", transformer.lyric.hidden);
  take("lyric_heads", transformer.lyric.heads);
  take("lyric_inner", transformer.lyric.inner);
  take("lyric_layers", transformer.lyric.layers);
  take("text_vocabulary_size", text.vocabulary);
  take("text_hidden", text.hidden);
  take("text_inner", text.inner);
  take("text_heads", text.heads);
  take("text_layers", text.layers);
  transformer.text_size = text.hidden;
  return checked(networks);
}

std::vector<engine::Option> network_options() {
  return engine::in_group(engine::kModelGroup,
                          {{"--size", "size", "NAME", "sizes of a new model: tiny or released"},
                           {"--layers", "layers", "N", "blocks of the transformer"},
                           {"--heads", "heads", "N", "its attention heads"},
                           {"--head-size", "head_size", "N", "values of each head"}});
}

}  // namespace ubique::acestep

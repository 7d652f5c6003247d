// SPDX-License-Identifier: Apache-2.0
// Configurations under the original's keys.
#include "ubique/models/acestep/net/config/config_json.h"

#include "ubique/base/text/json.h"

namespace ubique::acestep {
namespace {

void add_side(Json& json, const std::string& side, const DcaeSide& value) {
  auto types = Json::array();
  for (const bool attention : value.attention) {
    types.push_back(attention ? "EfficientViTBlock" : "ResBlock");
  }
  json[side + "_block_out_channels"] = value.channels;
  json[side + "_layers_per_block"] = value.layers;
  json[side + "_block_types"] = types;
  json[side + "_qkv_multiscales"] = value.multiscales;
}

}  // namespace

Json config_json(const Umt5Config& config) {
  return {{"model_type", "umt5"},
          {"architectures", {"UMT5EncoderModel"}},
          {"feed_forward_proj", "gated-gelu"},
          {"vocab_size", config.vocabulary},
          {"d_model", config.hidden},
          {"d_kv", config.head_size},
          {"d_ff", config.inner},
          {"num_layers", config.layers},
          {"num_heads", config.heads},
          {"relative_attention_num_buckets", config.buckets},
          {"relative_attention_max_distance", config.max_distance},
          {"layer_norm_epsilon", config.norm_eps}};
}

Json config_json(const DitConfig& config) {
  return {{"_class_name", "ACEStepTransformer2DModel"},
          {"in_channels", config.in_channels},
          {"out_channels", config.out_channels},
          {"num_layers", config.layers},
          {"inner_dim", config.hidden()},
          {"num_attention_heads", config.heads},
          {"attention_head_dim", config.head_size},
          {"mlp_ratio", config.mlp_ratio},
          {"max_position", config.max_position},
          {"rope_theta", config.rope_theta},
          {"speaker_embedding_dim", config.speaker_size},
          {"text_embedding_dim", config.text_size},
          {"ssl_names", config.ssl_names},
          {"ssl_encoder_depths", config.ssl_depths},
          {"ssl_latent_dims", config.ssl_sizes},
          {"patch_size", {config.patch_height, 1}},
          {"max_height", config.patch_height},
          {"lyric_encoder_vocab_size", config.lyric.vocabulary},
          {"lyric_hidden_size", config.lyric.hidden},
          {"lyric_encoder_dim", config.lyric.hidden},
          {"lyric_encoder_heads", config.lyric.heads},
          {"lyric_encoder_units", config.lyric.inner},
          {"lyric_encoder_blocks", config.lyric.layers}};
}

Json config_json(const DcaeConfig& config) {
  Json json = {{"_class_name", "AutoencoderDC"},
               {"in_channels", config.in_channels},
               {"latent_channels", config.latent_channels},
               {"attention_head_dim", config.head_size},
               {"downsample_block_type", "Conv"},
               {"upsample_block_type", "interpolate"},
               {"decoder_norm_types", "rms_norm"},
               {"decoder_act_fns", "silu"}};
  add_side(json, "encoder", config.encoder);
  add_side(json, "decoder", config.decoder);
  return json;
}

Json config_json(const VocoderConfig& config) {
  Json json = {{"_class_name", "ADaMoSHiFiGANV1"},
               {"input_channels", config.mels},
               {"depths", config.depths},
               {"dims", config.dims},
               {"kernel_sizes", {config.kernel}},
               {"num_mels", config.dims.back()},
               {"upsample_rates", config.upsample_rates},
               {"upsample_kernel_sizes", config.upsample_kernels},
               {"resblock_kernel_sizes", config.resblock_kernels},
               {"resblock_dilation_sizes", config.resblock_dilations},
               {"upsample_initial_channel", config.initial_channels},
               {"pre_conv_kernel_size", config.pre_kernel},
               {"post_conv_kernel_size", config.post_kernel},
               {"use_template", false},
               {"sampling_rate", config.sample_rate},
               {"n_fft", config.fft},
               {"hop_length", config.hop}};
  if (!config.upsample_channels.empty()) json["upsample_channels"] = config.upsample_channels;
  return json;
}

}  // namespace ubique::acestep

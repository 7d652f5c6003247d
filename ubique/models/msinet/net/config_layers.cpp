// SPDX-License-Identifier: Apache-2.0
// The list of convolutions of a configuration, under the published network's names.
#include <fmt/format.h>

#include "ubique/models/msinet/net/config.h"

namespace ubique::msinet {
namespace {

constexpr std::int64_t kColours = 3;

class LayerLister {
 public:
  explicit LayerLister(const MsiNetConfig& config) : config_(config) {}

  std::vector<LayerSpec> run() {
    add_encoder();
    add_aspp();
    add_decoder();
    return std::move(layers_);
  }

 private:
  void add_encoder() {
    for (std::size_t s = 0; s < config_.encoder.size(); ++s) {
      const auto& stage = config_.encoder[s];
      const auto group = fmt::format("conv{}", s + 1);
      for (std::size_t i = 0; i < stage.widths.size(); ++i) {
        const auto width = stage.widths[i];
        layers_.push_back({group, fmt::format("{}_{}", group, i + 1), 3, channels_, width,
                           stage.dilation, divisor_});
        channels_ = width;
      }
      divisor_ *= stage.stride;
      if (s >= config_.first_tap()) aspp_in_ += channels_;
    }
  }

  void add_aspp() {
    const auto width = config_.aspp_width;
    int count = 0;
    const auto add = [&](std::int64_t kernel, std::int64_t dilation, std::int64_t divisor) {
      layers_.push_back(
          {"aspp", fmt::format("conv1_{}", ++count), kernel, aspp_in_, width, dilation, divisor});
    };
    add(1, 1, divisor_);
    for (const auto dilation : config_.aspp_dilations) add(3, dilation, divisor_);
    add(1, 1, 0);
    layers_.push_back({"aspp", "conv2", 1, count * width, width, 1, divisor_});
    channels_ = width;
  }

  void add_decoder() {
    int count = 0;
    const auto add = [&](std::int64_t width) {
      layers_.push_back(
          {"decoder", fmt::format("conv{}", ++count), 3, channels_, width, 1, divisor_});
      channels_ = width;
    };
    for (const auto width : config_.decoder) {
      divisor_ /= 2;
      add(width);
    }
    add(1);
  }

  const MsiNetConfig& config_;
  std::vector<LayerSpec> layers_;
  std::int64_t channels_ = kColours, aspp_in_ = 0, divisor_ = 1;
};

}  // namespace

std::string LayerSpec::scope(std::string_view separator) const {
  return fmt::format("{}{}{}", group, separator, name);
}

std::vector<LayerSpec> layers_of(const MsiNetConfig& config) { return LayerLister(config).run(); }

}  // namespace ubique::msinet

// SPDX-License-Identifier: Apache-2.0
// The configuration of a MeshNet: its chain of dilated convolutions, its preprocessing and its
// labels. A checkpoint's header holds all of it. No torch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/config/config.h"
#include "ubique/base/error.h"
#include "ubique/base/text/json_fwd.h"
#include "ubique/kernels/conv/activation.h"
#include "ubique/models/meshnet/net/labels.h"

namespace ubique::meshnet {

using kernels::Activation;
using kernels::Norm;

enum class Init { Xavier, KaimingFanOut };

std::string_view to_string(Init init);  ///< "xavier", "kaiming_fan_out"
Init parse_init(std::string_view text);

/// How a scan becomes the network's input; the names are those of data/scans/volume/conform.h.
struct Preprocessing {
  std::string conform = "scipy_zoom";  ///< scipy_zoom, nibabel_conform, brainchop, none
  std::array<std::int64_t, 3> shape{256, 256, 256};
  std::array<double, 3> spacing{1, 1, 1};            ///< mm, along the axes of `shape`
  std::string normalization = "min_max";             ///< min_max, quantile, z_score, none
  double low_quantile = 0.05, high_quantile = 0.95;  ///< fractions, for quantile
  bool operator==(const Preprocessing&) const = default;
};

inline constexpr double kNormEpsilon = 1e-5;
inline constexpr double kNormMomentum = 0.1;

struct MeshNetConfig {
  std::int64_t in_channels = 1, channels = 26, classes = 2;
  std::vector<std::int64_t> dilations = {1, 2, 4, 8, 16, 16, 8, 4, 2};  ///< one per 3x3x3 layer
  std::int64_t kernel = 3;
  Activation activation = Activation::Relu;
  Norm norm = Norm::Batch;
  bool bias = true;  ///< of the dilated convolutions; the classifier always has one
  double dropout = 0;
  Init init = Init::Xavier;
  Preprocessing preprocessing;
  std::vector<Label> labels;  ///< one per class, or none

  std::size_t layers() const { return dilations.size(); }  ///< without the classifier
  std::int64_t receptive_field() const;                    ///< voxels along one axis
  std::string name() const;                                ///< "meshnet-26"
  bool operator==(const MeshNetConfig&) const = default;
};

/// "1" or "0.9x1.1x1": one number where the axes agree.
std::string spacing_text(const Preprocessing& preprocessing);

/// "meshnet-5", "meshnet_16", "meshnet-26"; Usage error, did you mean.
MeshNetConfig preset(std::string_view name);

/// Keys: preset, channels, classes, in_channels, dilations, kernel, activation, norm, bias,
/// dropout, init, resample_method, shape, spacing, normalization, low_quantile, high_quantile,
/// labels (names). Usage error for invalid values.
MeshNetConfig read_config(const Config& config);

Json to_json(const MeshNetConfig& config);
/// Input error naming `where` and the key; missing keys keep their defaults, unknown ones are
/// refused.
MeshNetConfig from_json(const Json& json, const std::string& where);

/// An error of that kind for invalid values, naming the key.
void validate(const MeshNetConfig& config, ErrorKind kind = ErrorKind::Usage);

/// Trainable parameters: 27C+3C + 8(27C²+3C) + 2C+2 for the usual form.
std::int64_t parameter_count(const MeshNetConfig& config);

}  // namespace ubique::meshnet

// SPDX-License-Identifier: Apache-2.0
// The configuration of an MSI-Net as plain data: encoder, ASPP module (atrous spatial pyramid
// pooling) and decoder as lists of widths, preprocessing, and the origin of the weights. Stored in
// every checkpoint. The published network and the small one are two values of it. No torch.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/config/config.h"
#include "ubique/base/error.h"
#include "ubique/base/text/json_fwd.h"

namespace ubique::msinet {

/// Bilinear upsampling by 2. Legacy is TensorFlow 1's: even outputs copy, odd ones are means of two
/// neighbours, the edge is repeated. HalfPixel is TensorFlow 2's and LibTorch's.
enum class Upsample { Legacy, HalfPixel };

std::string_view to_string(Upsample mode);  ///< "legacy", "half_pixel"
Upsample parse_upsample(std::string_view text);

/// How pixels (RGB, 0 to 255) become the network's input.
struct Preprocessing {
  std::string variant = "msinet";                         ///< name of the variant
  std::array<double, 3> means{103.939, 116.779, 123.68};  ///< subtracted from R, G and B
  double pad = 126;  ///< pixel value around pictures of another aspect ratio
  bool operator==(const Preprocessing&) const = default;
};

/// "msinet": as the released weights expect, with the means in the order B, G, R although pictures
/// are RGB. "torchvision": its means times 255; its standard deviations are folded into the first
/// kernels. "caffe": the means of the original VGG16 in the order R, G, B. Usage error, did you
/// mean.
Preprocessing preprocessing_variant(std::string_view name);

/// 3x3 convolutions with ReLU, then 2x2 max pooling.
struct EncoderStage {
  std::vector<std::int64_t> widths;
  std::int64_t stride = 2;  ///< of the max pooling: 2 halves the size, 1 keeps it
  std::int64_t dilation = 1;
  bool operator==(const EncoderStage&) const = default;
};

struct MsiNetConfig {
  /// Stages of stride 2 first, then those of stride 1. The outputs of the last stage of stride 2
  /// and of all stages after it are concatenated as the input of the ASPP module.
  std::vector<EncoderStage> encoder = {{{64, 64}, 2, 1},
                                       {{128, 128}, 2, 1},
                                       {{256, 256, 256}, 2, 1},
                                       {{512, 512, 512}, 1, 1},
                                       {{512, 512, 512}, 1, 2}};
  std::int64_t aspp_width = 256;                          ///< of every branch and of the 1x1 fusion
  std::vector<std::int64_t> aspp_dilations = {4, 8, 12};  ///< of the 3x3 branches
  std::vector<std::int64_t> decoder = {128, 64, 32};      ///< one per upsampling by 2
  Upsample upsample = Upsample::Legacy;
  Preprocessing preprocessing;
  std::array<std::int64_t, 2> size{240, 320};  ///< height and width of the input
  std::string dataset, device;                 ///< of the training; may be empty

  /// Index of the first stage whose output goes into the ASPP module.
  std::size_t first_tap() const { return decoder.size() - 1; }
  std::int64_t reduction() const {
    return std::int64_t{1} << decoder.size();
  }                          ///< 8: sizes are multiples
  std::string name() const;  ///< "msinet", "msinet-small", else "msinet-N" by its first width
  bool operator==(const MsiNetConfig&) const = default;
};

/// "msinet" (24,934,209 parameters), "msinet-small" (153,097); Usage error, did you mean.
MsiNetConfig preset(std::string_view name);
/// All widths times `factor`, at least 1.
MsiNetConfig widened(MsiNetConfig config, double factor);

/// Input height and width of the published network for a data set; nothing for an unknown name.
std::optional<std::array<std::int64_t, 2>> dataset_size(std::string_view dataset);

/// Keys: preset, width (a factor), upsample, preprocess, size, dataset. Usage error for invalid
/// values.
MsiNetConfig read_config(const Config& config);

Json to_json(const MsiNetConfig& config);
/// Input error naming `where` and the key; missing keys keep their defaults, unknown ones are
/// refused.
MsiNetConfig from_json(const Json& json, const std::string& where);

/// Throws an error of `kind` for an invalid value, naming the key.
void validate(const MsiNetConfig& config, ErrorKind kind = ErrorKind::Usage);

/// One convolution with a bias; all but the last are followed by a ReLU.
struct LayerSpec {
  std::string group, name;  ///< "conv1" and "conv1_1", "aspp" and "conv2", "decoder" and "conv4"
  std::int64_t kernel = 3, in = 1, out = 1, dilation = 1;
  std::int64_t divisor = 1;  ///< output size = picture size / divisor; 0: one pixel

  std::string scope(std::string_view separator) const;  ///< "conv1/conv1_1"
};

/// In the published order: encoder, ASPP (1x1, dilated, global, fusion), decoder.
std::vector<LayerSpec> layers_of(const MsiNetConfig& config);

std::int64_t parameter_count(const MsiNetConfig& config);

}  // namespace ubique::msinet

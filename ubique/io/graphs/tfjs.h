// SPDX-License-Identifier: Apache-2.0
// TensorFlow.js layers models as BrainChop ships them: model.json with a chain of layers, and the
// weights in raw little-endian files. Says what the files say; what the layers mean is the family's
// business.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/io/tensors/host_tensor.h"

namespace ubique::io {

struct TfjsLayer {
  std::string class_name;  ///< "Conv3D", "Activation", "InputLayer"
  std::string name;
  Json config;
  std::vector<std::string> inputs;  ///< names of the layers it takes
};

struct TfjsModel {
  std::vector<TfjsLayer> layers;    ///< in the order of the file
  std::vector<HostTensor> weights;  ///< "<layer>/kernel", "<layer>/bias", in manifest order; f32
                                    ///< (where the file has int32, bool or uint8, those)
  Json document;                    ///< model.json itself

  const HostTensor* find(std::string_view name) const;
};

/// A folder with model.json, or the JSON file itself; weight files are looked for beside it and
/// nowhere else. Quantised weights (uint8, uint16, float16) are expanded to f32. Input error for a
/// graph model (with what to do), missing or short weight files, shapes that lie.
TfjsModel read_tfjs(const std::filesystem::path& path);

/// Gives a weight file's bytes by its plain name, without folders.
using TfjsFiles = std::function<std::vector<std::byte>(const std::string& file)>;
/// The same from memory; `name` stands for model.json in messages.
TfjsModel parse_tfjs(std::string_view json, const std::string& name, const TfjsFiles& files);

/// A float32 weight in 8 bits: stored · scale + min.
struct TfjsScale {
  double scale = 1, min = 0;
};

struct TfjsWeight {
  HostTensor tensor;  ///< f16: a float32 weight in TFJS's float16 quantisation
  std::optional<TfjsScale> scale = std::nullopt;  ///< with u8: a float32 weight in 8 bits
};

/// Writes FOLDER/model.bin and then FOLDER/model.json (the document with its weightsManifest
/// replaced), each atomically. Input error for types that TFJS does not have.
void write_tfjs(const std::filesystem::path& folder, const Json& document,
                std::span<const TfjsWeight> weights);

}  // namespace ubique::io

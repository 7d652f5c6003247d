// SPDX-License-Identifier: Apache-2.0
// TensorFlow.js layers models as BrainChop ships them, read and written: model.json with a chain of
// layers, and raw little-endian weight files. The meaning of the layers is left to the caller.
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
  std::vector<std::string> inputs;  ///< names of its input layers
};

struct TfjsModel {
  std::vector<TfjsLayer> layers;    ///< in file order
  std::vector<HostTensor> weights;  ///< "<layer>/kernel", "<layer>/bias", in manifest order; f32
                                    ///< (where the file has int32, bool or uint8, those)
  Json document;                    ///< model.json itself

  const HostTensor* find(std::string_view name) const;
};

/// `path` is model.json or its folder; weight files must be beside it. Quantised weights (uint8,
/// uint16, float16) are converted to f32. Input error for a graph model (with what to do), for
/// missing or short weight files, and for sizes that do not fit the shapes.
TfjsModel read_tfjs(const std::filesystem::path& path);

/// Returns the bytes of a weight file, given its name without folders.
using TfjsFiles = std::function<std::vector<std::byte>(const std::string& file)>;
/// The same from memory; error messages call model.json `name`.
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

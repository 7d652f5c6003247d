// SPDX-License-Identifier: Apache-2.0
// Keras weight files (HDF5), in the layout of every Keras version.
#pragma once

#include <filesystem>

#include "ubique/io/arrays/hdf5.h"
#include "ubique/models/msinet/files/import_layers.h"

namespace ubique::msinet {

/// Metadata keys of our files: the configuration, the layout, and in safetensors the order of the
/// kernels' axes with its two values.
inline constexpr const char* kConfigKey = "msinet_config";
inline constexpr const char* kLayoutKey = "data_format";
inline constexpr const char* kKernelOrderKey = "kernel_order";
inline constexpr const char* kTorchOrder = "OIHW";
inline constexpr const char* kChannelsLastOrder = "OHWI";

/// Subclassed models (LAYER/vars/0) and functional ones (layers/conv2d_7/vars/0, the layer's name
/// being an attribute or only its number) of Keras 3 and tf_keras, and LAYER/LAYER/kernel:0 of
/// Keras 2. Input error with names and shapes for others.
FoundLayers read_keras(const std::filesystem::path& path);

/// Does any tensor path look like a layer of an MSI-Net?
bool looks_like_keras(const io::Hdf5File& file);

}  // namespace ubique::msinet

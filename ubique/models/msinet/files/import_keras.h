// SPDX-License-Identifier: Apache-2.0
// Keras's HDF5 files of weights, in each layout that its versions have had.
#pragma once

#include <filesystem>

#include "ubique/io/arrays/hdf5.h"
#include "ubique/models/msinet/files/import_layers.h"

namespace ubique::msinet {

/// Where a file of ours carries its configuration, the layout that it is made for, and in
/// safetensors the order of its kernels' axes.
inline constexpr const char* kConfigKey = "msinet_config";
inline constexpr const char* kLayoutKey = "data_format";
inline constexpr const char* kKernelOrderKey = "kernel_order";
inline constexpr const char* kTorchOrder = "OIHW";
inline constexpr const char* kChannelsLastOrder = "OHWI";

/// Subclassed (LAYER/vars/0) and functional models (layers/conv2d_7/vars/0, with the layer's name
/// as an attribute or known by its number alone) of Keras 3 and tf_keras, and Keras 2's
/// LAYER/LAYER/kernel:0. Input error with names and shapes for others.
FoundLayers read_keras(const std::filesystem::path& path);

/// Do its paths look like one?
bool looks_like_keras(const io::Hdf5File& file);

}  // namespace ubique::msinet

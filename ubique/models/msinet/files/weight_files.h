// SPDX-License-Identifier: Apache-2.0
// Weight files of other systems, read and written: Keras HDF5 of every layout, TensorFlow 1
// variables as .npz, frozen TensorFlow graphs, pretrained VGG16 encoders of torchvision and Keras,
// and our own safetensors. All are read into one form: a config and the state dict of network.h.
// Memory layouts (channels first or last) only reorder axes; the values are the same.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "ubique/engine/contract/family.h"
#include "ubique/models/msinet/net/weights.h"

namespace ubique::msinet {

/// Can this be one? Looks at the tensor names, not at the values.
bool looks_like_msinet(const std::filesystem::path& path);

/// Any of the formats above. Input error with names and shapes for everything else.
MsiNetFile load_any(const std::filesystem::path& path);

/// The layout a file is written for. Safetensors store kernels as (O, I, H, W) or (O, H, W, I) and
/// say which; Keras and TensorFlow store (H, W, I, O) for both, and an .h5 only records the name.
enum class FileLayout { ChannelsFirst, ChannelsLast };
std::string_view to_string(FileLayout layout);  ///< "channels_first", "channels_last"

/// Option of `convert`; its key is layout.
std::vector<engine::Option> layout_options();
/// Empty if it is not given. Usage error, did you mean.
std::optional<FileLayout> read_layout(const Config& config);

/// The config is in the metadata, so that load_any returns the same file.
void export_safetensors(const MsiNetFile& file, const std::filesystem::path& path,
                        FileLayout layout = FileLayout::ChannelsFirst);
/// The paths of Keras 3 for a subclassed model: LAYER/vars/0 is the kernel (H, W, I, O), 1 the
/// bias; the config and `layout` are attributes that Keras ignores.
void export_keras(const MsiNetFile& file, const std::filesystem::path& path,
                  FileLayout layout = FileLayout::ChannelsLast);
/// TensorFlow 1's variables: conv1/conv1_1/kernel (H, W, I, O), conv1/conv1_1/bias.
void export_npz(const MsiNetFile& file, const std::filesystem::path& path);

/// Formats "checkpoint", "safetensors", "h5", "npz"; without `layout` the format's default. Parity
/// error, and the file removed, if reading it back gives other weights. Usage error if `path`
/// exists, and for a layout with a checkpoint, which has only one.
void export_checked(const MsiNetFile& file, const std::string& format,
                    const std::filesystem::path& path,
                    std::optional<FileLayout> layout = std::nullopt);

}  // namespace ubique::msinet

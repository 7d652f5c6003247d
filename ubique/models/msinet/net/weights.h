// SPDX-License-Identifier: Apache-2.0
// MSI-Net weights in the files of the systems that make them: Keras HDF5 of every layout,
// TensorFlow 1 variables as .npz, frozen TensorFlow graphs, VGG16 from torchvision or Keras as a
// start, our safetensors. All become one form: a config and the state dict of network.h, on the
// host. A kernel's numbers are the same for channels first and last and for every device: layouts
// are views of them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ubique/engine/contract/batch.h"
#include "ubique/models/msinet/net/config.h"

namespace ubique::msinet {

struct MsiNetFile {
  MsiNetConfig config;
  engine::NamedTensors tensors;  ///< f32, names and order of network.h
  std::string form;              ///< "Keras .weights.h5", "torchvision VGG16 .pth": what it was
  bool encoder_only = false;     ///< a start: ASPP module and decoder are not in it
};

/// Can this be one? Looks at the names in it, not at the values.
bool looks_like_msinet(const std::filesystem::path& path);

/// Any of the forms above. Input error with names and shapes for everything else.
MsiNetFile load_any(const std::filesystem::path& path);

/// What a file is made for. Safetensors keep kernels as (O, I, H, W) or (O, H, W, I) and say which;
/// Keras's and TensorFlow's are (H, W, I, O) for both, and an .h5 only records the word.
enum class FileLayout { ChannelsFirst, ChannelsLast };
std::string_view to_string(FileLayout layout);  ///< "channels_first", "channels_last"

/// The config is in the metadata, so that load_any gives back the same.
void export_safetensors(const MsiNetFile& file, const std::filesystem::path& path,
                        FileLayout layout = FileLayout::ChannelsFirst);
/// What Keras 3 writes for a subclassed model: LAYER/vars/0 is the kernel (H, W, I, O), 1 the bias;
/// the config and `layout` are attributes that Keras passes over.
void export_keras(const MsiNetFile& file, const std::filesystem::path& path,
                  FileLayout layout = FileLayout::ChannelsLast);
/// TensorFlow 1's variables: conv1/conv1_1/kernel (H, W, I, O), conv1/conv1_1/bias.
void export_npz(const MsiNetFile& file, const std::filesystem::path& path);

/// "checkpoint", "safetensors", "h5", "npz"; no `layout`: the format's own. Parity error, and the
/// file removed, if reading gives other weights than were to be written. Usage error if `path`
/// exists, and for a layout of a checkpoint, which has one.
void export_checked(const MsiNetFile& file, const std::string& format,
                    const std::filesystem::path& path,
                    std::optional<FileLayout> layout = std::nullopt);

/// "model_salicon_gpu.weights.h5".
std::string weight_file_name(const std::string& dataset, const std::string& device);

struct WeightFile {
  std::filesystem::path path;
  std::string dataset, device;  ///< as its name says
};
/// What a name of that form says, with or without "weights." and for other endings too.
std::optional<WeightFile> read_weight_file_name(const std::filesystem::path& path);
/// The file of that data set and device in a folder, else of that data set and the first other
/// device; nothing if there is none.
std::optional<WeightFile> find_weight_file(const std::filesystem::path& folder,
                                           const std::string& dataset, const std::string& device);

}  // namespace ubique::msinet

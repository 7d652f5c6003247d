// SPDX-License-Identifier: Apache-2.0
// Weight files under the names that MSI-Net's own programs use, model_DATASET_DEVICE.weights.h5,
// and how they are found in a results folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace ubique::msinet {

/// The original's name of a backend of ours: gpu for cuda, metal for mps; others as they are.
std::string weight_device_name(const std::string& backend);

/// "model_salicon_gpu.weights.h5".
std::string weight_file_name(const std::string& dataset, const std::string& device);

struct WeightFile {
  std::filesystem::path path;
  std::string dataset, device;  ///< as its name says
};
/// Data set and device of a file name of that form, with or without "weights." and with any
/// extension.
std::optional<WeightFile> read_weight_file_name(const std::filesystem::path& path);
/// The file of that data set and device in a folder, else of that data set and the first other
/// device; nothing if there is none.
std::optional<WeightFile> find_weight_file(const std::filesystem::path& folder,
                                           const std::string& dataset, const std::string& device);

/// Does a folder (itself, its best/, its ckpts/best/ or a run's results/) hold such weights?
bool holds_named_weights(const std::filesystem::path& folder);
/// Weights of `which` ("best", "latest") of a data set in such a folder: of this device, else of
/// another, which work as well; nothing if there are none.
std::optional<WeightFile> find_results(const std::filesystem::path& folder,
                                       const std::string& which, const std::string& dataset,
                                       const std::string& device);
/// The best weights of a folder. With an empty `dataset` the folder must hold only one data set.
/// Usage error that lists the files if there is no match. Logs a note if another device wrote them.
std::filesystem::path find_best(const std::filesystem::path& folder, const std::string& dataset,
                                const std::string& device);
/// Logs that the file of another device is used.
void note_other_device(const WeightFile& file, const std::string& device);

}  // namespace ubique::msinet

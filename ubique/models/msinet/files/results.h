// SPDX-License-Identifier: Apache-2.0
// The folder `results` as MSI-Net's own programs keep it: weights under the names of a data set and
// a device, the history of the losses, their curve. Written beside our run folder, and found again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ubique/models/msinet/net/weights.h"

namespace ubique::msinet {

/// What those programs call a backend of ours: gpu for cuda, metal for mps; others as they are.
std::string weight_device_name(const std::string& backend);

/// ckpts/{latest,best}/model_DATASET_DEVICE.weights.h5, history/{train,valid}_DATASET_DEVICE.txt
/// with one number per line, and history/curve_DATASET_DEVICE.png.
class ResultsFolder {
 public:
  ResultsFolder(std::filesystem::path root, std::string dataset, std::string device)
      : root_(std::move(root)), dataset_(std::move(dataset)), device_(std::move(device)) {}

  std::filesystem::path weights(const std::string& which) const;  ///< "latest" or "best"
  std::filesystem::path history(const std::string& part) const;   ///< "train" or "valid"
  std::filesystem::path curve() const;

  /// Is no loss of the history smaller, those of earlier runs too?
  bool is_lowest(double valid_loss) const;
  /// Writes the weights as latest, and as best if they are; adds the losses to the history; draws
  /// the curve once there are two epochs. Each file is whole at any moment.
  void add_epoch(const MsiNetFile& file, double train_loss, std::optional<double> valid_loss,
                 bool best) const;

 private:
  std::filesystem::path named(const char* folder, const std::string& kind,
                              const char* ending) const;

  std::filesystem::path root_;
  std::string dataset_, device_;
};

/// One number per line, NaN for what is not finite; empty if there is no file. Input error for a
/// line that is none.
std::vector<double> read_history(const std::filesystem::path& path);

/// Does a folder (itself, its best/, its ckpts/best/ or a run's results/) hold such weights?
bool holds_named_weights(const std::filesystem::path& folder);
/// Weights of `which` ("best", "latest") of a data set in such a folder: those of this device, else
/// of another, which serve as well; nothing where there are none.
std::optional<WeightFile> find_results(const std::filesystem::path& folder,
                                       const std::string& which, const std::string& dataset,
                                       const std::string& device);
/// The best weights of a folder. An empty `dataset` stands for the only one there. Usage error that
/// says what is there, if that is not one of them. A note says so if another device made them.
std::filesystem::path find_best(const std::filesystem::path& folder, const std::string& dataset,
                                const std::string& device);
/// The note: layouts are only views, so a file of one device serves the others.
void note_other_device(const WeightFile& file, const std::string& device);

}  // namespace ubique::msinet

// SPDX-License-Identifier: Apache-2.0
// Weights by the names that MSI-Net's programs give them, in the folders where they keep them.
#include <set>

#include "ubique/base/log.h"
#include "ubique/base/text.h"
#include "ubique/models/msinet/results.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

std::vector<WeightFile> named_weights(const fs::path& folder) {
  std::vector<WeightFile> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_regular_file(error) || entry.path().extension() != ".h5") continue;
    if (auto file = read_weight_file_name(entry.path())) found.push_back(std::move(*file));
  }
  return found;
}

/// Where weights of that kind are, below a folder that a person may name: the first that has any.
fs::path weights_folder(const fs::path& folder, const std::string& which) {
  for (const auto& place :
       {folder / "ckpts" / which, folder / "results" / "ckpts" / which, folder / which, folder}) {
    if (!named_weights(place).empty()) return place;
  }
  return {};
}

}  // namespace

bool holds_named_weights(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && !weights_folder(folder, "best").empty();
}

std::optional<WeightFile> find_results(const fs::path& folder, const std::string& which,
                                       const std::string& dataset, const std::string& device) {
  const auto place = weights_folder(folder, which);
  return place.empty() ? std::nullopt : find_weight_file(place, dataset, device);
}

void note_other_device(const WeightFile& file, const std::string& device) {
  if (device.empty() || file.device == device) return;
  log::info("{} was trained on {}; layouts are only views, so the same file serves {}",
            file.path.filename().string(), file.device, device);
}

fs::path find_best(const fs::path& folder, const std::string& dataset, const std::string& device) {
  std::set<std::string> datasets, files;
  for (const auto& file : named_weights(weights_folder(folder, "best"))) {
    datasets.insert(file.dataset);
    files.insert(file.path.filename().string());
  }
  const bool only = dataset.empty() && datasets.size() == 1;
  const auto found = find_results(folder, "best", only ? *datasets.begin() : dataset, device);
  const std::vector<std::string> known(datasets.begin(), datasets.end());
  check(found.has_value(), ErrorKind::Usage,
        "[msinet.results] {} does not say which weights are meant; got {}, expected --dataset with "
        "one of {} (there {} {}).{}",
        folder.string(), dataset.empty() ? "no --dataset" : "--dataset " + dataset,
        join(known, ", "), files.size() == 1 ? "is" : "are",
        join({files.begin(), files.end()}, ", "), hint(dataset, known));
  note_other_device(*found, device);
  return found->path;
}

}  // namespace ubique::msinet

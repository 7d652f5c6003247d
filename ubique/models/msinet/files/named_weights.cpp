// SPDX-License-Identifier: Apache-2.0
// File names of weights, and the search for them in results folders.
#include "ubique/models/msinet/files/named_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModelPrefix = "model_";
constexpr const char* kKerasEnding = ".weights.h5";

std::vector<WeightFile> named_weights(const fs::path& folder) {
  std::vector<WeightFile> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_regular_file(error) || entry.path().extension() != ".h5") continue;
    if (auto file = read_weight_file_name(entry.path())) found.push_back(std::move(*file));
  }
  return found;
}

/// The first of the usual folders below `folder`, or itself, that holds weights of `which`.
fs::path weights_folder(const fs::path& folder, const std::string& which) {
  for (const auto& candidate :
       {folder / "ckpts" / which, folder / "results" / "ckpts" / which, folder / which, folder}) {
    if (!named_weights(candidate).empty()) return candidate;
  }
  return {};
}

}  // namespace

std::string weight_device_name(const std::string& backend) {
  if (backend == "cuda") return "gpu";
  return backend == "mps" ? "metal" : backend;
}

std::string weight_file_name(const std::string& dataset, const std::string& device) {
  return fmt::format("{}{}_{}{}", kModelPrefix, dataset, device, kKerasEnding);
}

std::optional<WeightFile> read_weight_file_name(const fs::path& path) {
  const auto name = path.filename().string();
  const auto stem = name.substr(0, name.find('.'));
  const auto cut = stem.rfind('_');
  if (!stem.starts_with(kModelPrefix) || cut <= kModelPrefix.size() || cut + 1 >= stem.size()) {
    return std::nullopt;
  }
  return WeightFile{path, stem.substr(kModelPrefix.size(), cut - kModelPrefix.size()),
                    stem.substr(cut + 1)};
}

std::optional<WeightFile> find_weight_file(const fs::path& folder, const std::string& dataset,
                                           const std::string& device) {
  std::error_code error;
  std::vector<WeightFile> found;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.path().string().ends_with(kKerasEnding) || !entry.is_regular_file(error)) continue;
    auto file = read_weight_file_name(entry.path());
    if (file && file->dataset == dataset) found.push_back(std::move(*file));
  }
  const auto order = [&](const WeightFile& a, const WeightFile& b) {
    const bool first = a.device == device, second = b.device == device;
    return first != second ? first : a.device < b.device;
  };
  const auto best = std::min_element(found.begin(), found.end(), order);
  return best == found.end() ? std::nullopt : std::optional(*best);
}

bool holds_named_weights(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && !weights_folder(folder, "best").empty();
}

std::optional<WeightFile> find_results(const fs::path& folder, const std::string& which,
                                       const std::string& dataset, const std::string& device) {
  const auto found = weights_folder(folder, which);
  return found.empty() ? std::nullopt : find_weight_file(found, dataset, device);
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

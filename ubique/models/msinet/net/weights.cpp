// SPDX-License-Identifier: Apache-2.0
// Weight files by the names that MSI-Net's programs give them: model_DATASET_DEVICE.weights.h5.
#include <algorithm>

#include "ubique/base/text/text.h"
#include "ubique/models/msinet/net/weights.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModelPrefix = "model_";
constexpr const char* kKerasEnding = ".weights.h5";

}  // namespace

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

}  // namespace ubique::msinet

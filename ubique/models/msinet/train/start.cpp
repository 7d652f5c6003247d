// SPDX-License-Identifier: Apache-2.0
// Looks for initial weights in --model, the results folder and the run's checkpoint.
#include "ubique/models/msinet/train/start.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/data/images/datasets.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/models/msinet/files/named_weights.h"
#include "ubique/models/msinet/files/weight_files.h"
#include "ubique/models/msinet/use/open.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPretrainingSet = "salicon";

bool is_other_known_set(const std::string& dataset) {
  const auto sets = data::saliency_sets();
  return dataset != kPretrainingSet &&
         std::ranges::find(sets, dataset, &data::SaliencySet::name) != sets.end();
}

MsiNetFile open_named(const WeightFile& file, const std::string& device) {
  note_other_device(file, device);
  log::info("starting from {}", file.path.string());
  return load_any(file.path);
}

/// From a folder given by --model: the best weights of this data set, else of SALICON.
MsiNetFile open_folder(const fs::path& folder, const std::string& dataset,
                       const std::string& device) {
  auto found = find_results(folder, "best", dataset, device);
  if (!found) found = find_results(folder, "best", kPretrainingSet, device);
  return found ? open_named(*found, device) : load_any(find_best(folder, dataset, device));
}

std::optional<MsiNetFile> open_earlier(const fs::path& results, const std::string& dataset,
                                       const std::string& device) {
  if (const auto latest = find_results(results, "latest", dataset, device)) {
    return open_named(*latest, device);
  }
  const auto first = find_results(results, "best", kPretrainingSet, device);
  if (first && is_other_known_set(dataset)) return open_named(*first, device);
  check(!is_other_known_set(dataset), ErrorKind::Input,
        "[msinet.train] nothing to fine-tune for {}; got no {} in {}. Train on SALICON first (with "
        "the same --results, or --dataset {},{}), or give weights with --model.",
        dataset, weight_file_name(kPretrainingSet, device), (results / "ckpts" / "best").string(),
        kPretrainingSet, dataset);
  log::info("no earlier weights in {}: starts from random ones (--model takes a pretrained VGG16)",
            results.string());
  return std::nullopt;
}

}  // namespace

std::string dataset_label(const Config& config) {
  auto name = config.get<std::string>("dataset", "");
  if (name.empty()) {
    fs::path folder = config.get<std::string>("data", "");
    if (folder.empty()) folder = fs::path(config.get<std::string>("stimuli", "")).parent_path();
    if (!folder.empty()) folder = fs::absolute(folder).lexically_normal();
    name = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
  }
  const auto unsafe = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-';
  };
  std::ranges::replace_if(name, unsafe, '-');
  return name.empty() ? "pictures" : name;
}

std::optional<MsiNetFile> start_file(const engine::Request& request) {
  const auto dataset = dataset_label(request.config);
  const auto device = weight_device_name(request.device);
  if (!request.model.empty()) {
    return holds_named_weights(request.model) ? open_folder(request.model, dataset, device)
                                              : open_file(request.model);
  }
  const fs::path results = request.config.get<std::string>("results", "");
  if (results.empty()) return std::nullopt;
  const auto last = request.output / "checkpoints" / "last";
  const bool resumes = request.config.get("resume", false) && engine::is_checkpoint(last);
  return resumes ? open_file(last) : open_earlier(results, dataset, device);
}

}  // namespace ubique::msinet

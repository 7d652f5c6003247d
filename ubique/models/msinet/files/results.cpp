// SPDX-License-Identifier: Apache-2.0
// Weights by the names that MSI-Net's programs give them, in the folders where they keep them.

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <set>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/io/images/png.h"
#include "ubique/models/msinet/files/results.h"
#include "ubique/models/msinet/train/curve.h"

namespace ubique::msinet {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLargestHistory = 64 << 20;

void add_line(const fs::path& path, double value) {
  std::error_code ignored;
  const auto before = fs::exists(path, ignored) ? read_file(path, kLargestHistory) : std::string();
  write_file(path, before + fmt::format("{:f}\n", value));
}

}  // namespace

std::string weight_device_name(const std::string& backend) {
  if (backend == "cuda") return "gpu";
  return backend == "mps" ? "metal" : backend;
}

std::vector<double> read_history(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  std::vector<double> values;
  for (const auto& line : split(read_file(path, kLargestHistory), '\n')) {
    const auto value = parse_number(line);
    const bool lost = line.ends_with("nan") || line.ends_with("inf");
    check(value || lost, ErrorKind::Input,
          "[msinet.results] {} is no history of losses; got '{}' in line {}, expected a number.",
          path.string(), line, values.size() + 1);
    values.push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return values;
}

fs::path ResultsFolder::named(const char* folder, const std::string& kind,
                              const char* ending) const {
  return root_ / folder / fmt::format("{}_{}_{}{}", kind, dataset_, device_, ending);
}

fs::path ResultsFolder::weights(const std::string& which) const {
  return root_ / "ckpts" / which / weight_file_name(dataset_, device_);
}
fs::path ResultsFolder::history(const std::string& part) const {
  return named("history", part, ".txt");
}
fs::path ResultsFolder::curve() const { return named("history", "curve", ".png"); }

bool ResultsFolder::is_lowest(double valid_loss) const {
  const auto rounded = parse_number(fmt::format("{:f}", valid_loss)).value_or(valid_loss);
  const auto earlier = read_history(history("valid"));
  return std::ranges::all_of(earlier, [&](double loss) { return !(loss < rounded); });
}

void ResultsFolder::add_epoch(const MsiNetFile& file, double train_loss,
                              std::optional<double> valid_loss, bool best) const {
  for (const auto& path : {weights("latest"), weights("best"), history("train")}) {
    make_folder(path.parent_path());
  }
  auto named = file;
  named.config.dataset = dataset_;
  named.config.device = device_;
  export_keras(named, weights("latest"));
  if (best) export_keras(named, weights("best"));
  add_line(history("train"), train_loss);
  if (valid_loss) add_line(history("valid"), *valid_loss);
  const auto train = read_history(history("train")), valid = read_history(history("valid"));
  if (train.size() > 1) io::write_png(curve(), curve_picture(train, valid));
}

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

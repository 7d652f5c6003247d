// SPDX-License-Identifier: Apache-2.0
// Files of the results folder: paths, loss history, weights of an epoch.
#include "ubique/models/msinet/train/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/io/images/png.h"
#include "ubique/models/msinet/files/named_weights.h"
#include "ubique/models/msinet/files/weight_files.h"
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

std::vector<double> read_history(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  std::vector<double> values;
  for (const auto& line : split(read_file(path, kLargestHistory), '\n')) {
    const auto value = parse_number(line);
    const bool nonfinite = line.ends_with("nan") || line.ends_with("inf");
    check(value || nonfinite, ErrorKind::Input,
          "[msinet.results] {} is not a loss history; got '{}' in line {}, expected a number.",
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

}  // namespace ubique::msinet

// SPDX-License-Identifier: Apache-2.0
// Tolerances per weight type, label agreement, CC and KLD.
#include "ubique/export/check.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"

namespace ubique::exporting {
namespace {

namespace fs = std::filesystem;

/// Tolerances for rounded weights: largest difference, and share of labels that may change.
struct Allowance {
  double difference, labels;
};

/// With 8-bit weights small networks lose much accuracy in values and some labels; the export
/// reports both. A file that is wrong loses far more.
Allowance allowance_of(DType dtype) {
  if (dtype == DType::I8 || dtype == DType::U8) return {0.6, 0.05};
  return dtype == DType::F16 ? Allowance{0.02, 0.002} : Allowance{1e-5, 1e-4};
}

/// The largest difference as a share of the largest value. Where both are NaN, or the same
/// infinity, they agree; a NaN on one side only is as far off as can be.
double relative_difference(const at::Tensor& got, const at::Tensor& expected) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto a = got.to(at::kDouble), b = expected.to(at::kDouble);
  const auto same = a.eq(b).logical_or(a.isnan().logical_and(b.isnan()));
  const auto off = (a - b).abs().masked_fill(same, 0).nan_to_num(kInfinity, kInfinity);
  const auto largest = b.abs().nan_to_num(0, 0, 0).max().item<double>();
  return off.max().item<double>() / std::max(largest, 1e-30);
}

std::vector<ClassAgreement> compare_classes(const at::Tensor& got, const at::Tensor& expected,
                                            const std::vector<std::string>& names) {
  std::vector<ClassAgreement> classes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto is_class = expected.eq(static_cast<std::int64_t>(i));
    const auto agreeing = is_class.logical_and(got.eq(expected)).sum().item<std::int64_t>();
    classes.push_back({names[i], is_class.sum().item<std::int64_t>(), agreeing});
  }
  return classes;
}

MapScores score_maps(const at::Tensor& got, const at::Tensor& expected) {
  constexpr double kEpsilon = 2.2204e-16;
  const auto flat = [](const at::Tensor& maps) { return maps.to(at::kDouble).flatten(1); };
  const auto a = flat(got), b = flat(expected);  // (B, H·W)
  const auto centred = [](const at::Tensor& x) { return x - x.mean(1, true); };
  const auto share = [](const at::Tensor& x) {
    const auto lifted = x - x.amin(1, true);
    return lifted / (lifted.sum(1, true) + kEpsilon);
  };
  const auto x = centred(a), y = centred(b), p = share(a), q = share(b);
  const auto spread = (x.square().sum(1) * y.square().sum(1)).sqrt() + kEpsilon;
  const auto divergence = (q * (q / (p + kEpsilon) + kEpsilon).log()).sum(1);
  return {((x * y).sum(1) / spread).mean().item<double>(),
          std::max(0.0, divergence.mean().item<double>())};  // rounding may give a value below 0
}

std::int64_t bytes_in(const fs::path& folder) {
  std::int64_t bytes = 0;
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    if (file.is_regular_file()) bytes += static_cast<std::int64_t>(file.file_size());
  }
  return bytes;
}

}  // namespace

CheckedFile compare_outputs(const at::Tensor& got, const engine::GraphExport& model, DType dtype,
                            const std::string& place) {
  const auto expected = engine::torch_tensor(model.output);
  check(got.sizes() == expected.sizes(), ErrorKind::Parity,
        "[{}] what was written computes another shape. Nothing was kept.", place);
  CheckedFile result;
  result.labels = expected.scalar_type() == at::kLong;
  const auto labels = [&](const at::Tensor& output) {
    return result.labels ? output : output.argmax(1);
  };
  result.agreement = labels(got).eq(labels(expected)).to(at::kDouble).mean().item<double>();
  result.classes = compare_classes(labels(got), labels(expected), model.classes);
  if (!result.labels) {
    result.difference = relative_difference(got, expected);
    if (expected.dim() == 4 && expected.size(1) == 1) result.map = score_maps(got, expected);
  }
  const auto allowed = allowance_of(dtype);
  check(result.difference <= allowed.difference && 1 - result.agreement <= allowed.labels,
        ErrorKind::Parity,
        "[{}] what was written does not compute what the model does; got a difference of {:.2g} of "
        "the largest value and {:.2f} % of labels, expected at most {:.2g} and at least {:.2f} %. "
        "Nothing was kept.",
        place, result.difference, 100 * result.agreement, allowed.difference,
        100 * (1 - allowed.labels));
  return result;
}

CheckedFile compare_named_outputs(const std::map<std::string, at::Tensor>& got,
                                  const engine::GraphExport& model, DType dtype,
                                  const std::string& place) {
  CheckedFile result;
  result.decisions = "next tokens";
  for (const auto& output : model.outputs) {
    const auto expected = engine::torch_tensor(output);
    const auto found = got.find(output.name);
    check(found != got.end() && found->second.sizes() == expected.sizes(), ErrorKind::Parity,
          "[{}] what was written computes no {}, or another shape. Nothing was kept.", place,
          output.name);
    const auto difference = relative_difference(found->second, expected);
    check(difference <= allowance_of(dtype).difference, ErrorKind::Parity,
          "[{}] what was written does not compute what the model does; {} is off by {:.2g} of the "
          "largest value, expected at most {:.2g}. Nothing was kept.",
          place, output.name, difference, allowance_of(dtype).difference);
    result.difference = std::max(result.difference, difference);
    if (output.name != "logits") continue;
    const auto same = found->second.argmax(-1).eq(expected.argmax(-1));
    result.agreement = same.to(at::kDouble).mean().item<double>();
  }
  return result;
}

std::string agreement_text(const CheckedFile& checked) {
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::string> unseen;
  std::vector<std::pair<double, std::string>> below;  // those that do not agree completely
  for (const auto& row : checked.classes) {
    if (row.expected == 0) {
      unseen.push_back(row.name);
    } else if (row.agreeing < row.expected) {
      below.emplace_back(static_cast<double>(row.agreeing) / static_cast<double>(row.expected),
                         row.name);
    }
  }
  std::ranges::sort(below);
  std::vector<std::string> lowest;
  for (const auto& [share, name] : below) {
    if (lowest.size() < kMostNamed) lowest.push_back(fmt::format("{} {:.2f} %", name, 100 * share));
  }
  const auto more = unseen.size() - std::min(unseen.size(), kMostNamed);
  unseen.resize(unseen.size() - more);
  auto text = fmt::format("{:.2f} % of {} agree", 100 * checked.agreement, checked.decisions);
  if (!lowest.empty()) text += fmt::format(" ({})", join(lowest, ", "));
  if (unseen.empty()) return text;
  return text + fmt::format("; not seen: {}{}", join(unseen, ", "),
                            more > 0 ? fmt::format(" and {} more", more) : "");
}

std::int64_t size_of_files(const fs::path& path) {
  if (fs::is_directory(path)) return bytes_in(path);
  auto data = path;
  data += ".data";
  std::error_code error;
  const auto data_bytes = fs::file_size(data, error);
  return static_cast<std::int64_t>(fs::file_size(path) + (error ? 0 : data_bytes));
}

}  // namespace ubique::exporting

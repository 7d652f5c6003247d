// SPDX-License-Identifier: Apache-2.0
// Confusion counts from one pass over the voxels, and the metrics computed from them.
#include "ubique/models/meshnet/score/metrics.h"

#include <cmath>
#include <limits>

#include "ubique/base/error.h"

namespace ubique::meshnet {
namespace {

constexpr double kSmooth = 1e-6;

double as_double(std::int64_t count) { return static_cast<double>(count); }

/// counts[truth * classes + predicted].
std::vector<std::int64_t> cross_table(std::span<const std::uint8_t> predicted,
                                      std::span<const std::uint8_t> truth, std::int64_t classes) {
  std::vector<std::int64_t> pairs(256 * 256);  // all pairs of bytes: no check per voxel
  for (std::size_t i = 0; i < truth.size(); ++i) ++pairs[truth[i] * 256U + predicted[i]];
  std::vector<std::int64_t> table(static_cast<std::size_t>(classes * classes));
  for (std::int64_t pair = 0; pair < 256 * 256; ++pair) {
    const auto count = pairs[static_cast<std::size_t>(pair)];
    if (count == 0) continue;
    const auto label = pair / 256, guess = pair % 256;
    check(label < classes && guess < classes, ErrorKind::Input,
          "[meshnet.metrics] a label that the network does not have; got {} in {} voxels, expected "
          "0 to {}. Is it the mask of another task?",
          std::max(label, guess), count, classes - 1);
    table[static_cast<std::size_t>(label * classes + guess)] = count;
  }
  return table;
}

}  // namespace

double Confusion::dice() const {
  return (2 * as_double(tp) + kSmooth) / (2 * as_double(tp) + as_double(fp + fn) + kSmooth);
}

double Confusion::avd() const {
  const auto truth = tp + fn, predicted = tp + fp;
  if (truth == 0) return predicted == 0 ? 0 : std::numeric_limits<double>::infinity();
  return std::abs(as_double(predicted - truth)) / as_double(truth);
}

double Confusion::mcc() const {
  const double square =
      as_double(tp + fp) * as_double(tp + fn) * as_double(tn + fp) * as_double(tn + fn);
  if (square == 0) return 0;
  return (as_double(tp) * as_double(tn) - as_double(fp) * as_double(fn)) / std::sqrt(square);
}

double SubjectScore::macro_dice() const {
  double sum = 0;
  for (const auto& confusion : classes) sum += confusion.dice();
  return sum / as_double(static_cast<std::int64_t>(classes.size()));
}

double SubjectScore::foreground_dice() const {
  double sum = 0;
  for (std::size_t c = 1; c < classes.size(); ++c) sum += classes[c].dice();
  return sum / as_double(static_cast<std::int64_t>(classes.size()) - 1);
}

std::vector<Confusion> compare_labels(std::span<const std::uint8_t> predicted,
                                      std::span<const std::uint8_t> truth, std::int64_t classes) {
  check(predicted.size() == truth.size(), ErrorKind::Internal,
        "[meshnet.metrics] label maps of two sizes; got {} and {} voxels, expected the same.",
        predicted.size(), truth.size());
  const auto table = cross_table(predicted, truth, classes);
  const auto total = static_cast<std::int64_t>(truth.size());
  std::vector<Confusion> confusions(static_cast<std::size_t>(classes));
  for (std::int64_t c = 0; c < classes; ++c) {
    auto& confusion = confusions[static_cast<std::size_t>(c)];
    std::int64_t truths = 0, guesses = 0;
    for (std::int64_t other = 0; other < classes; ++other) {
      truths += table[static_cast<std::size_t>(c * classes + other)];
      guesses += table[static_cast<std::size_t>(other * classes + c)];
    }
    confusion.tp = table[static_cast<std::size_t>(c * classes + c)];
    confusion.fn = truths - confusion.tp;
    confusion.fp = guesses - confusion.tp;
    confusion.tn = total - truths - confusion.fp;
  }
  return confusions;
}

}  // namespace ubique::meshnet

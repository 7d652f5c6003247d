// SPDX-License-Identifier: Apache-2.0
// Runs the trials of a kernel and remembers the verdict.
#include "ubique/kernels/dispatch/self_check.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"

namespace ubique::kernels {
namespace {

/// Allows several half-precision roundings in a row; a wrong kernel is off by far more.
constexpr double kMaxError = 0.03;

/// Relative error in the Euclidean norm; NaN counts as infinite.
double error_of(const Trial& trial) {
  const auto expected = trial.expected.to(at::kDouble);
  const auto error = (trial.got.to(at::kDouble) - expected).norm() / expected.norm();
  return error.nan_to_num(INFINITY, INFINITY).item<double>();
}

/// Empty if the kernel is right.
std::string fault_of(const std::function<std::vector<Trial>()>& trials) {
  try {
    double worst = 0;
    for (const auto& trial : trials()) worst = std::max(worst, error_of(trial));
    if (worst <= kMaxError) return {};
    return fmt::format("tried, it is off by {:.2g} of what was expected; allowed is {}", worst,
                       kMaxError);
  } catch (const c10::OutOfMemoryError&) {
    throw;  // not the kernel's fault: the caller frees memory and retries
  } catch (const c10::Error& error) {
    return fmt::format("tried, it fails: {}", error.what_without_backtrace());
  } catch (const Error& error) {
    return fmt::format("tried, it fails: {}", error.what());
  }
}

}  // namespace

bool passes_self_check(const std::string& kernel, const at::Tensor& like,
                       const std::function<std::vector<Trial>()>& trials) {
  static std::mutex guard;
  static std::map<std::string, bool> known;
  const auto key =
      fmt::format("{} {} {}", like.device().str(), at::toString(like.scalar_type()), kernel);
  const std::lock_guard lock(guard);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  // Trials compare gradients too, whatever the caller records.
  const c10::InferenceMode normal(false);
  const auto fault = fault_of(trials);
  if (!fault.empty()) {
    log::warn(
        "[kernels.trust] this device's own kernel for {} is not used, plain ops are slower: {}.",
        kernel, fault);
  }
  return known.emplace(key, fault.empty()).first->second;
}

std::vector<Trial> trials_of(const std::vector<at::Tensor>& got,
                             const std::vector<at::Tensor>& expected) {
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < expected.size(); ++i) trials.push_back({got.at(i), expected[i]});
  return trials;
}

at::Tensor test_values(at::IntArrayRef shape, const at::Tensor& like, int seed) {
  const auto positions = at::arange(c10::multiply_integers(shape), at::TensorOptions(at::kDouble));
  const auto values = at::sin(positions * 12.9898 + seed) * 43758.5453;
  return ((values - values.floor()) * 2 - 1).view(shape).to(like.options());
}

}  // namespace ubique::kernels

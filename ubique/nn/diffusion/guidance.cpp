// SPDX-License-Identifier: Apache-2.0
// Combinations of conditional and unconditional predictions.
#include "ubique/nn/diffusion/guidance.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/base/text/names.h"
#include "ubique/base/text/printable.h"

namespace ubique::nn {
namespace {

constexpr NameTable<GuidanceKind, 3> kKinds{
    {{GuidanceKind::Cfg, "cfg"}, {GuidanceKind::Apg, "apg"}, {GuidanceKind::CfgStar, "cfg_star"}}};
constexpr double kNormEps = 1e-12;
constexpr double kFitEps = 1e-8;

/// Length over height and width: (B, C, 1, 1).
at::Tensor plane_norm(const at::Tensor& x) { return x.square().sum({2, 3}, true).sqrt(); }

}  // namespace

std::string_view to_string(GuidanceKind kind) { return name_of(kKinds, kind); }

GuidanceKind parse_guidance_kind(std::string_view text) {
  for (const auto& [kind, name] : kKinds) {
    if (text == name) return kind;
  }
  fail(ErrorKind::Usage, "[nn.guidance] unknown kind; got '{}', expected cfg, apg or cfg_star.",
       printable(std::string(text)));
}

at::Tensor cfg_guidance(const at::Tensor& cond, const at::Tensor& null, double scale) {
  const auto base = null.to(at::kFloat);
  return base + (cond.to(at::kFloat) - base) * scale;
}

at::Tensor apg_guidance(const at::Tensor& cond, const at::Tensor& null, double scale,
                        ApgState* state, const ApgOptions& options) {
  const auto guided = cond.to(at::kFloat);
  auto difference = guided - null.to(at::kFloat);
  if (state != nullptr) {
    if (state->running.defined()) difference = difference + state->running * state->momentum;
    state->running = difference;
  }
  difference = difference * (options.largest_norm / plane_norm(difference)).clamp_max(1);
  const auto along = guided / plane_norm(guided).clamp_min(kNormEps);
  const auto orthogonal = difference - (difference * along).sum({2, 3}, true) * along;
  return guided + orthogonal * (scale - 1);
}

at::Tensor cfg_star_guidance(const at::Tensor& cond, const at::Tensor& null, double scale,
                             std::int64_t step, std::int64_t zero_steps) {
  const auto guided = cond.to(at::kFloat);
  if (step <= zero_steps) return at::zeros_like(guided);
  const auto base = null.to(at::kFloat);
  const auto dot = (guided * base).sum({1, 2, 3}, true);  // (B, 1, 1, 1)
  const auto fitted = base * (dot / (base.square().sum({1, 2, 3}, true) + kFitEps));
  return fitted + (guided - fitted) * scale;
}

at::Tensor double_guidance(const at::Tensor& cond, const at::Tensor& partial,
                           const at::Tensor& null, double outer, double inner) {
  return null.to(at::kFloat) * (1 - outer) + partial.to(at::kFloat) * (outer - inner) +
         cond.to(at::kFloat) * inner;
}

GuidanceWindow guidance_window(std::int64_t steps, double interval) {
  check(interval >= 0 && interval <= 1, ErrorKind::Usage,
        "[nn.guidance] the interval is out of range; got {}, expected 0 to 1.", interval);
  const auto count = static_cast<double>(steps);
  return {.first = static_cast<std::int64_t>(count * ((1 - interval) / 2)),
          .last = static_cast<std::int64_t>(count * (interval / 2 + 0.5))};
}

double decayed_scale(const GuidanceWindow& window, std::int64_t step, double scale, double least,
                     double decay) {
  const auto rest = window.last - window.first - 1;
  if (decay <= 0 || rest <= 0) return scale;
  const auto progress = static_cast<double>(step - window.first) / static_cast<double>(rest);
  return scale - (scale - least) * progress * decay;
}

}  // namespace ubique::nn

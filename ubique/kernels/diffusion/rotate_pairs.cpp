// SPDX-License-Identifier: Apache-2.0
// ubique::rotate_pairs, the same in plain ops, and their comparison.
#include "ubique/kernels/diffusion/rotate_pairs.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <optional>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/find_op.h"
#include "ubique/kernels/dispatch/self_check.h"

namespace ubique::kernels {
namespace {

using Optional = std::optional<at::Tensor>;

bool no_rotate_pairs(const at::Tensor& /*x*/, std::int64_t /*size*/, std::int64_t /*ones*/,
                     at::ScalarType /*dtype*/) {
  return false;
}

Optional table(const at::Tensor& values) {
  return values.defined() ? Optional(values) : std::nullopt;
}

at::Tensor plain_rotate_pairs(const at::Tensor& x, const PairRotation& rotation,
                              at::ScalarType dtype) {
  auto y = x.unflatten(-1, {rotation.heads, -1}).transpose(1, 2).to(at::kFloat);
  if (rotation.cos.defined()) {
    const auto pairs = y.unflatten(-1, {-1, 2}).unbind(-1);
    const auto turned = at::stack({-pairs[1], pairs[0]}, -1).flatten(-2);
    y = y * rotation.cos + turned * rotation.sin;
  }
  if (rotation.relu) y = at::relu(y);
  if (rotation.ones > 0) y = at::constant_pad_nd(y, {0, rotation.ones}, 1);
  return y.to(dtype).contiguous();
}

at::Tensor fused_rotate_pairs(const at::Tensor& x, const PairRotation& rotation,
                              at::ScalarType dtype) {
  static const auto op =
      find_op<at::Tensor(const at::Tensor&, const Optional&, const Optional&, std::int64_t, bool,
                         std::int64_t, at::ScalarType)>("ubique::rotate_pairs");
  return op.call(x, table(rotation.cos), table(rotation.sin), rotation.heads, rotation.relu,
                 rotation.ones, dtype);
}

std::vector<Trial> pair_trials(const at::Tensor& like, std::int64_t size, std::int64_t ones,
                               at::ScalarType dtype) {
  constexpr std::int64_t kHeads = 3, kLength = 5;
  const auto x = test_values({2, kLength, kHeads * size}, like, 1);
  const auto wide = like.options().dtype(at::kFloat);
  PairRotation rotation{.heads = kHeads, .ones = ones};
  const auto compare = [&] {
    return Trial{fused_rotate_pairs(x, rotation, dtype),
                 plain_rotate_pairs(x, rotation, at::kFloat)};
  };
  std::vector<Trial> trials = {compare()};
  rotation.cos = test_values({kLength, size}, at::empty({0}, wide), 2);
  rotation.sin = test_values({kLength, size}, at::empty({0}, wide), 3);
  trials.push_back(compare());
  rotation.relu = true;
  trials.push_back(compare());
  return trials;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_rotate_pairs(Tensor x, int size, int ones, ScalarType dtype) -> bool");
  library.def(
      "rotate_pairs(Tensor x, Tensor? cos, Tensor? sin, int heads, bool relu, int ones, ScalarType "
      "dtype) -> Tensor");
  library.impl("does_rotate_pairs", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_rotate_pairs));
}

bool does_rotate_pairs(const at::Tensor& x, const PairRotation& rotation, at::ScalarType dtype) {
  static const auto op = find_op<decltype(no_rotate_pairs)>("ubique::does_rotate_pairs");
  const auto size = x.size(-1) / rotation.heads, ones = rotation.ones;
  if (!op.call(x, size, ones, dtype)) return false;
  const auto name =
      fmt::format("rotate_pairs, heads of {} and {} to {}", size, ones, c10::toString(dtype));
  return passes_self_check(name, x, [&] { return pair_trials(x, size, ones, dtype); });
}

at::Tensor rotate_pairs(const at::Tensor& x, const PairRotation& rotation, at::ScalarType dtype) {
  if (!does_rotate_pairs(x, rotation, dtype)) return plain_rotate_pairs(x, rotation, dtype);
  const PlainTensors plain;
  return fused_rotate_pairs(x, rotation, dtype);
}

}  // namespace ubique::kernels

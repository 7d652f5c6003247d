// SPDX-License-Identifier: Apache-2.0
// The KLD of kld_loss() in plain tensor operations; autograd gives its gradient.
#include "ubique/models/msinet/net/loss.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ubique/base/error.h"

namespace ubique::msinet {
namespace {

constexpr double kLossEpsilon = 1e-7;

/// (B, pixels), each row divided by its sum.
at::Tensor distribution(const at::Tensor& values) {
  const auto rows = values.flatten(1);
  return rows / (rows.sum(1, true) + kLossEpsilon);
}

}  // namespace

at::Tensor kld_loss(const at::Tensor& map, const at::Tensor& target) {
  check(map.dim() == 4 && map.size(1) == 1 && target.size(0) == map.size(0) &&
            target.numel() == map.numel() && target.size(-1) == map.size(3),
        ErrorKind::Input, "[msinet.loss] the target does not fit the map; got ({}), expected ({}).",
        fmt::join(target.sizes().begin(), target.sizes().end(), ", "),
        fmt::join(map.sizes().begin(), map.sizes().end(), ", "));
  const auto dtype = map.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto p = distribution(map.to(dtype));
  const auto t = distribution(target.to(dtype));
  const auto ratio = t / (p + kLossEpsilon) + kLossEpsilon;
  return (t * ratio.log()).sum(1).mean();
}

}  // namespace ubique::msinet

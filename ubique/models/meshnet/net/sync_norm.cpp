// SPDX-License-Identifier: Apache-2.0
// Sums travel in f64. Backward corrects the gradient that the rank's own sums give, so that fused
// kernels serve here as well.
#include "ubique/models/meshnet/net/sync_norm.h"

#include <ATen/ATen.h>

#include <utility>

namespace ubique::meshnet {
namespace {

void append(std::vector<double>& list, const at::Tensor& values) {
  const auto host = values.to(at::kDouble).cpu().contiguous();
  list.insert(list.end(), host.const_data_ptr<double>(),
              host.const_data_ptr<double>() + host.numel());
}

/// The `part`-th list of `channels` numbers after the first `skip`.
at::Tensor part_of(const std::vector<double>& sums, std::size_t skip, std::int64_t part,
                   std::int64_t channels) {
  const auto all = at::tensor(at::ArrayRef<double>(sums).slice(skip), at::kDouble);
  return all.narrow(0, part * channels, channels);
}

std::int64_t voxels_of(const at::Tensor& x) { return x.numel() / x.size(1); }

/// One number for each channel, to be multiplied with x.
at::Tensor per_channel(const at::Tensor& values, const at::Tensor& x) {
  return values.to(x.options()).view({1, -1, 1, 1, 1});
}

}  // namespace

at::Tensor sync_norm_act(const at::Tensor& x, const kernels::NormAct& how,
                         kernels::NormStatistics& statistics, engine::PassSums& sums,
                         std::int64_t& values) {
  const auto channels = x.size(1);
  const auto own = static_cast<double>(voxels_of(x));
  const auto [variance, mean] = at::var_mean(x.to(how.weight.scalar_type()), {0, 2, 3, 4}, 0);
  const auto centre = mean.to(at::kDouble);  // (C)
  std::vector<double> mine = {own};
  append(mine, centre * own);
  append(mine, (variance.to(at::kDouble) + centre.square()) * own);
  const auto all = sums.add_up(mine);
  values = static_cast<std::int64_t>(all[0]);
  const auto total_mean = part_of(all, 1, 0, channels) / all[0];
  const auto squares = part_of(all, 1, 1, channels) / all[0];
  const auto total_variance = (squares - total_mean.square()).clamp_min(0);
  statistics.mean = total_mean.to(how.weight.options());
  statistics.inverse_deviation = (total_variance + how.epsilon).rsqrt().to(how.weight.options());
  return kernels::norm_act_recompute(x, how, statistics);
}

/// With its own sums a rank gets w/s (g - B/m - n W/m): B and W are the gradients of bias and
/// weight, n the normalised x, s the deviation, m the rank's voxels. Those of all ranks belong
/// there instead.
kernels::NormActGradients sync_norm_act_backward(at::Tensor gradient, at::Tensor result,
                                                 const at::Tensor& x, const kernels::NormAct& how,
                                                 const kernels::NormStatistics& statistics,
                                                 engine::PassSums& sums, std::int64_t values) {
  auto own = kernels::norm_act_backward(std::move(gradient), std::move(result), x, how, statistics);
  const auto channels = x.size(1);
  std::vector<double> mine;
  append(mine, own.bias);
  append(mine, own.weight);
  const auto all = sums.add_up(mine);
  const auto device = x.device();
  const auto m = static_cast<double>(voxels_of(x)), total = static_cast<double>(values);
  const auto bias = own.bias.to(at::kDouble) / m - part_of(all, 0, 0, channels).to(device) / total;
  const auto weight =
      own.weight.to(at::kDouble) / m - part_of(all, 0, 1, channels).to(device) / total;
  const auto inverse = statistics.inverse_deviation.to(at::kDouble);
  const auto scale = how.weight.to(at::kDouble) * inverse;
  const auto slope = scale * inverse * weight;
  const auto offset = scale * bias - slope * statistics.mean.to(at::kDouble);
  own.input.addcmul_(x, per_channel(slope, x)).add_(per_channel(offset, x));
  return own;
}

}  // namespace ubique::meshnet

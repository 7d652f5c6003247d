// SPDX-License-Identifier: Apache-2.0
// Orders of parameters, cut into buckets.
#include "ubique/engine/ranks/gradient_buckets.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ubique::engine {
namespace {

std::int64_t bytes_of(const at::Tensor& parameter) {
  return parameter.numel() * static_cast<std::int64_t>(parameter.element_size());
}

}  // namespace

std::vector<GradientBucket> make_buckets(const NamedTensors& parameters,
                                         const std::vector<std::size_t>& order,
                                         std::int64_t bytes) {
  std::vector<GradientBucket> buckets;
  std::int64_t filled = 0;
  for (const auto index : order) {
    const auto& parameter = parameters[index].second;
    const auto dtype = parameter.scalar_type();
    const auto more = bytes_of(parameter);
    if (buckets.empty() || buckets.back().size.dtype != dtype || filled + more > bytes) {
      buckets.push_back({{}, {dtype, 0}});
      filled = 0;
    }
    buckets.back().members.push_back(index);
    buckets.back().size.length += parameter.numel();
    filled += more;
  }
  return buckets;
}

std::int64_t gradient_bytes(const NamedTensors& parameters) {
  std::int64_t sum = 0;
  for (const auto& [name, parameter] : parameters) sum += bytes_of(parameter);
  return sum;
}

std::vector<std::size_t> early_ones(const std::vector<std::size_t>& ready,
                                    const std::string& late) {
  std::vector<std::size_t> order;
  for (auto item = ready.rbegin(); item != ready.rend(); ++item) {
    if (late[*item] == '0' && std::ranges::find(order, *item) == order.end()) {
      order.push_back(*item);
    }
  }
  std::ranges::reverse(order);
  return order;
}

std::vector<std::size_t> other_ones(const std::vector<std::size_t>& early, std::size_t count) {
  std::vector<std::size_t> order;
  for (std::size_t i = count; i-- > 0;) {
    if (std::ranges::find(early, i) == early.end()) order.push_back(i);
  }
  return order;
}

}  // namespace ubique::engine

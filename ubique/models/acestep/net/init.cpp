// SPDX-License-Identifier: Apache-2.0
// One rule for each kind of parameter.
#include "ubique/models/acestep/net/init.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

namespace ubique::acestep {
namespace {

constexpr double kTokenDeviation = 0.02;

bool is_token_table(const std::string& name) {
  return name == "shared.weight" || name == "lyric_embs.weight" ||
         name.find("relative_attention_bias") != std::string::npos;
}

/// Layers at the end of a residual branch, which begins small.
bool ends_branch(const std::string& name) {
  return name.ends_with("point_conv.conv.weight") || name.ends_with("to_out.0.weight") ||
         name.ends_with("final_layer.linear.weight");
}

/// Deviation of a matrix or kernel; rows of (out, in, kernel...).
double deviation_of(const std::string& name, const at::Tensor& parameter) {
  if (is_token_table(name)) return kTokenDeviation;
  if (name.starts_with("head.ups.")) {  // (in, out, kernel): each output sees two steps of inputs
    return 1 / std::sqrt(2.0 * static_cast<double>(parameter.size(0)));
  }
  const auto table = name.ends_with("scale_shift_table");
  const auto inputs = table ? parameter.size(-1) : parameter.numel() / parameter.size(0);
  const auto deviation = 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, inputs)));
  return ends_branch(name) ? 0.5 * deviation : deviation;
}

}  // namespace

void initialize(nn::Network& network, const Random& random) {
  const at::NoGradGuard no_gradients;
  std::uint64_t stream = 0;
  for (auto& item : network.named_parameters()) {
    auto& parameter = item.value();
    const auto& name = item.key();
    const auto own = random.fork(stream++);
    if (parameter.dim() == 1) {
      parameter.fill_(name.ends_with("bias") ? 0 : 1);
      continue;
    }
    auto values = at::empty(parameter.sizes(), at::TensorOptions(at::kFloat));
    own.fill_normal({values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())}, 0,
                    static_cast<float>(deviation_of(name, parameter)), 0, at::get_num_threads());
    parameter.copy_(values);
  }
}

}  // namespace ubique::acestep

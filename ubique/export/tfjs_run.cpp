// SPDX-License-Identifier: Apache-2.0
#include "ubique/export/tfjs_run.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "ubique/base/error.h"
#include "ubique/engine/tensor_bytes.h"

namespace ubique::exporting {
namespace {

constexpr double kBrowserEpsilon = 1e-5;  // BrainChop's, for what ends in _gn

at::Tensor activate_layer(const at::Tensor& x, const std::string& kind, const std::string& layer) {
  if (kind == "linear" || kind == "none") return x;
  if (kind == "relu") return at::relu(x);
  if (kind == "elu") return at::elu(x);
  if (kind == "gelu") return at::gelu(x);
  if (kind == "softmax") return at::softmax(x, 1);
  fail(ErrorKind::Input, "[export.tfjs] layer '{}': the activation {} is not known here.", layer,
       kind);
}

at::Tensor convolve_layer(const io::TfjsModel& model, const io::TfjsLayer& layer,
                          const at::Tensor& x) {
  const auto* kernel = model.find(layer.name + "/kernel");
  check(kernel != nullptr, ErrorKind::Input, "[export.tfjs] layer '{}' has no kernel.", layer.name);
  auto weight = engine::torch_tensor(*kernel);  // (k..., I, O)
  const auto dims = weight.dim() - 2;
  std::vector<std::int64_t> order = {dims + 1, dims};
  for (std::int64_t i = 0; i < dims; ++i) order.push_back(i);
  weight = weight.permute(order).contiguous();  // (O, I, k...)
  const auto* stored = model.find(layer.name + "/bias");
  const auto bias = stored ? std::optional(engine::torch_tensor(*stored)) : std::nullopt;
  const auto dilation = layer.config.at("dilation_rate").get<std::vector<std::int64_t>>();
  std::vector<std::int64_t> padding;
  for (std::int64_t i = 0; i < dims; ++i) {
    padding.push_back(dilation.at(static_cast<std::size_t>(i)) * (weight.size(i + 2) / 2));
  }
  const std::vector<std::int64_t> ones(padding.size(), 1), zeros(padding.size(), 0);
  auto y = at::convolution(x, weight, bias, ones, padding, dilation, false, zeros, 1);
  if (layer.name.ends_with("_gn")) {
    y = at::instance_norm(y, {}, {}, {}, {}, true, 0, kBrowserEpsilon, false);
  }
  return activate_layer(y, layer.config.value("activation", "linear"), layer.name);
}

}  // namespace

at::Tensor run_tfjs(const io::TfjsModel& model, const at::Tensor& input) {
  const at::NoGradGuard no_gradients;
  auto x = input;
  for (const auto& layer : model.layers) {
    if (layer.class_name == "InputLayer") continue;
    if (layer.class_name == "Activation") {
      x = activate_layer(x, layer.config.at("activation").get<std::string>(), layer.name);
      continue;
    }
    check(layer.class_name == "Conv3D" || layer.class_name == "Conv2D", ErrorKind::Input,
          "[export.tfjs] layer '{}' is a {}, which is not known here.", layer.name,
          layer.class_name);
    x = convolve_layer(model, layer, x);
  }
  return x;
}

}  // namespace ubique::exporting

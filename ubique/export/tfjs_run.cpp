// SPDX-License-Identifier: Apache-2.0
// A table of Keras layers, and the loop over a model's layers.
#include "ubique/export/tfjs_run.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <functional>
#include <limits>
#include <map>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"

namespace ubique::exporting {
namespace {

using io::TfjsLayer;
using LayerInputs = std::vector<at::Tensor>;
using Extents = std::vector<std::int64_t>;

constexpr double kBrowserEpsilon = 1e-5;  // BrainChop's, for layers that end in _gn

at::Tensor activate_layer(const at::Tensor& x, const std::string& kind, const std::string& layer) {
  if (kind == "linear" || kind == "none") return x;
  if (kind == "relu") return at::relu(x);
  if (kind == "elu") return at::elu(x);
  if (kind == "gelu") return at::gelu(x);
  if (kind == "softmax") return at::softmax(x, 1);
  fail(ErrorKind::Input, "[export.tfjs] layer '{}': the activation {} is not known here.", layer,
       kind);
}

at::Tensor convolve_layer(const io::TfjsModel& model, const TfjsLayer& layer, const at::Tensor& x) {
  const auto* kernel = model.find(layer.name + "/kernel");
  check(kernel != nullptr, ErrorKind::Input, "[export.tfjs] layer '{}' has no kernel.", layer.name);
  auto weight = engine::torch_tensor(*kernel);  // (k..., I, O)
  const auto dims = weight.dim() - 2;
  Extents order = {dims + 1, dims};
  for (std::int64_t i = 0; i < dims; ++i) order.push_back(i);
  weight = weight.permute(order).contiguous();  // (O, I, k...)
  const auto* stored = model.find(layer.name + "/bias");
  const auto bias = stored ? std::optional(engine::torch_tensor(*stored)) : std::nullopt;
  const auto dilation = layer.config.at("dilation_rate").get<Extents>();
  Extents padding;
  for (std::int64_t i = 0; i < dims; ++i) {
    padding.push_back(dilation.at(static_cast<std::size_t>(i)) * (weight.size(i + 2) / 2));
  }
  const Extents ones(padding.size(), 1), zeros(padding.size(), 0);
  auto y = at::convolution(x, weight, bias, ones, padding, dilation, false, zeros, 1);
  if (layer.name.ends_with("_gn")) {
    y = at::instance_norm(y, {}, {}, {}, {}, true, 0, kBrowserEpsilon, false);
  }
  return activate_layer(y, layer.config.value("activation", "linear"), layer.name);
}

/// Keras's "same" padding for strides of 1: an odd padding has its extra row or column at the end.
at::Tensor pad_same(const TfjsLayer& layer, const at::Tensor& x, const Extents& window,
                    double value) {
  if (layer.config.at("padding") == "valid") return x;
  check(layer.config.at("strides").get<Extents>() == Extents{1, 1}, ErrorKind::Input,
        "[export.tfjs] layer '{}' pads and strides at once, which is not known here.", layer.name);
  const auto rows = window.at(0) - 1, columns = window.at(1) - 1;
  const Extents around = {columns / 2, columns - columns / 2, rows / 2, rows - rows / 2};
  return at::constant_pad_nd(x, around, value);
}

at::Tensor max_layer(const TfjsLayer& layer, const LayerInputs& x) {
  const auto window = layer.config.at("pool_size").get<Extents>();
  const auto padded = pad_same(layer, x.at(0), window, -std::numeric_limits<float>::infinity());
  return at::max_pool2d(padded, window, layer.config.at("strides").get<Extents>());
}

/// Padding does not count.
at::Tensor mean_layer(const TfjsLayer& layer, const LayerInputs& x) {
  const auto window = layer.config.at("pool_size").get<Extents>();
  const auto strides = layer.config.at("strides").get<Extents>();
  const auto mean = [&](const at::Tensor& values) {
    return at::avg_pool2d(pad_same(layer, values, window, 0), window, strides);
  };
  return mean(x.at(0)) / mean(at::ones_like(x[0]));
}

at::Tensor repeat_layer(const TfjsLayer& layer, const LayerInputs& x) {
  check(layer.config.at("interpolation") == "nearest", ErrorKind::Input,
        "[export.tfjs] layer '{}' interpolates, which TensorFlow.js and Keras do differently.",
        layer.name);
  const auto size = layer.config.at("size").get<Extents>();
  return x.at(0).repeat_interleave(size.at(0), 2).repeat_interleave(size.at(1), 3);
}

at::Tensor reshape_layer(const TfjsLayer& layer, const LayerInputs& x) {
  const auto shape = layer.config.at("target_shape").get<Extents>();
  check(shape.size() == 3 && shape[0] == 1 && shape[1] == 1 && x.at(0).dim() == 2, ErrorKind::Input,
        "[export.tfjs] layer '{}' reshapes in a way that is not known here.", layer.name);
  return x[0].unsqueeze(2).unsqueeze(3);  // (B, C, 1, 1)
}

at::Tensor sum_layers(const LayerInputs& x) {
  auto sum = x.at(0);
  for (std::size_t i = 1; i < x.size(); ++i) sum = sum + x[i];
  return sum;
}

using LayerCompute = std::function<at::Tensor(const TfjsLayer&, const LayerInputs&)>;

/// Layers without weights. Tensors are (B, C, ...) here, unlike in the file.
const std::map<std::string, LayerCompute>& plain_layers() {
  static const std::map<std::string, LayerCompute> kLayers = {
      {"Activation",
       [](const TfjsLayer& layer, const LayerInputs& x) {
         return activate_layer(x.at(0), layer.config.at("activation").get<std::string>(),
                               layer.name);
       }},
      {"MaxPooling2D", max_layer},
      {"AveragePooling2D", mean_layer},
      {"UpSampling2D", repeat_layer},
      {"Concatenate", [](const TfjsLayer&, const LayerInputs& x) { return at::cat(x, 1); }},
      {"GlobalAveragePooling2D",
       [](const TfjsLayer&, const LayerInputs& x) {
         return x.at(0).mean({2, 3});
       }},
      {"Reshape", reshape_layer},
      {"Add", [](const TfjsLayer&, const LayerInputs& x) { return sum_layers(x); }},
      {"Average",
       [](const TfjsLayer&, const LayerInputs& x) {
         return sum_layers(x) / static_cast<double>(x.size());
       }},
  };
  return kLayers;
}

at::Tensor compute_layer(const io::TfjsModel& model, const TfjsLayer& layer, const LayerInputs& x) {
  if (layer.class_name == "Conv3D" || layer.class_name == "Conv2D") {
    return convolve_layer(model, layer, x.at(0));
  }
  const auto known = plain_layers().find(layer.class_name);
  check(known != plain_layers().end(), ErrorKind::Input,
        "[export.tfjs] layer '{}' is a {}, which is not known here.", layer.name, layer.class_name);
  return known->second(layer, x);
}

}  // namespace

at::Tensor run_tfjs(const io::TfjsModel& model, const at::Tensor& input) {
  const at::NoGradGuard no_gradients;
  std::map<std::string, at::Tensor> values;
  at::Tensor last = input;
  for (const auto& layer : model.layers) {
    LayerInputs inputs;
    for (const auto& name : layer.inputs) inputs.push_back(values.at(name));
    last = layer.class_name == "InputLayer" ? input : compute_layer(model, layer, inputs);
    values[layer.name] = last;
  }
  return last;
}

}  // namespace ubique::exporting

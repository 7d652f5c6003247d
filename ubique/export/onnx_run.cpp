// SPDX-License-Identifier: Apache-2.0
// A table of ONNX operators, and the loop over a model's nodes.
#include "ubique/export/onnx_run.h"

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/core/grad_mode.h>

#include <functional>
#include <limits>
#include <map>
#include <set>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"

namespace ubique::exporting {
namespace {

using io::OnnxNode;
using Integers = std::vector<std::int64_t>;

template <typename T>
T attribute(const OnnxNode& node, const std::string& name) {
  const auto found = node.attributes.find(name);
  const auto* value = found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
  check(value != nullptr, ErrorKind::Input, "[export.onnx] {} '{}' has no fitting '{}'.", node.op,
        node.name, name);
  return *value;
}

at::Tensor convolve_node(const OnnxNode& node, const std::vector<at::Tensor>& x) {
  const auto pads = attribute<Integers>(node, "pads");
  const auto dims = pads.size() / 2;
  const Integers before(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(dims));
  const Integers after(pads.begin() + static_cast<std::ptrdiff_t>(dims), pads.end());
  check(before == after, ErrorKind::Input, "[export.onnx] '{}' pads its sides differently.",
        node.name);
  const auto bias = x.size() > 2 ? std::optional(x[2]) : std::nullopt;
  return at::convolution(x[0], x[1], bias, attribute<Integers>(node, "strides"), before,
                         attribute<Integers>(node, "dilations"), false, Integers(dims, 0), 1);
}

at::Tensor dequantise_node(const OnnxNode& node, const std::vector<at::Tensor>& x) {
  Integers shape(static_cast<std::size_t>(x[0].dim()), 1);
  shape.at(static_cast<std::size_t>(attribute<std::int64_t>(node, "axis"))) = -1;
  return (x[0].to(at::kFloat) - x[2].view(shape).to(at::kFloat)) * x[1].view(shape);
}

/// Rounds to half precision but computes in f32: differences then come from the weights alone.
at::Tensor cast_node(const OnnxNode& node, const std::vector<at::Tensor>& x) {
  const auto to = attribute<std::int64_t>(node, "to");
  check(to == 1 || to == 9 || to == 10, ErrorKind::Input,
        "[export.onnx] a cast to type {} is unknown.", to);
  if (to == 9) return x[0].to(at::kBool);
  return to == 1 ? x[0].to(at::kFloat) : x[0].to(at::kHalf).to(at::kFloat);
}

at::Tensor shape_node(const OnnxNode&, const std::vector<at::Tensor>& x) {
  return at::tensor(x[0].sizes(), at::kLong);
}

Integers integers_of(const at::Tensor& tensor) {
  const auto host = tensor.contiguous();
  return {host.const_data_ptr<std::int64_t>(), host.const_data_ptr<std::int64_t>() + host.numel()};
}

/// Along one axis, the first unless there is a fourth input.
at::Tensor slice_node(const OnnxNode&, const std::vector<at::Tensor>& x) {
  const auto axis = x.size() > 3 ? x[3].item<std::int64_t>() : 0;
  return x[0].slice(axis, x[1].item<std::int64_t>(), x[2].item<std::int64_t>());
}

/// 0 keeps an extent, -1 is what is left over.
at::Tensor reshape_node(const OnnxNode&, const std::vector<at::Tensor>& x) {
  auto shape = integers_of(x.at(1));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) shape[i] = x[0].size(static_cast<std::int64_t>(i));
  }
  return x[0].reshape(shape);
}

at::Tensor unsqueeze_node(const OnnxNode&, const std::vector<at::Tensor>& x) {
  auto result = x[0];
  for (const auto axis : integers_of(x.at(1))) result = result.unsqueeze(axis);
  return result;
}

at::Tensor gather_node(const OnnxNode& node, const std::vector<at::Tensor>& x) {
  check(attribute<std::int64_t>(node, "axis") == 0, ErrorKind::Input,
        "[export.onnx] '{}' gathers along another axis than the first.", node.name);
  return x[0].index({x.at(1)});
}

at::Tensor layer_norm_node(const OnnxNode& node, const std::vector<at::Tensor>& x) {
  return at::layer_norm(x[0], x.at(1).sizes(), x[1], x.at(2), attribute<float>(node, "epsilon"));
}

at::Tensor range_node(const OnnxNode&, const std::vector<at::Tensor>& x) {
  return at::arange(x[0].item<std::int64_t>(), x.at(1).item<std::int64_t>(),
                    x.at(2).item<std::int64_t>(), at::TensorOptions(at::kLong));
}

/// Doubles the size. "asymmetric" maps output 2i to input i, which equals align_corners with one
/// output sample less per axis.
at::Tensor double_node(const OnnxNode& node, const at::Tensor& x, const at::Tensor& scales,
                       const std::string& mode) {
  const bool known = x.dim() == 4 && scales.equal(at::tensor({1.F, 1.F, 2.F, 2.F})) &&
                     (mode == "asymmetric" || mode == "half_pixel");
  check(known, ErrorKind::Input, "[export.onnx] '{}' resizes in a way that is not known here.",
        node.name);
  const auto height = 2 * x.size(2), width = 2 * x.size(3);
  if (mode == "half_pixel") return at::upsample_bilinear2d(x, {height, width}, false);
  const auto inner = at::upsample_bilinear2d(x, {height - 1, width - 1}, /*align_corners=*/true);
  return at::replication_pad2d(inner, {0, 1, 0, 1});
}

at::Tensor resize_node(const OnnxNode& node, const std::vector<at::Tensor>& x) {
  const auto mode = attribute<std::string>(node, "coordinate_transformation_mode");
  if (x.size() == 3) return double_node(node, x[0], x[2], mode);
  const auto sizes = x.at(3).slice(0, 2).contiguous();
  check(mode == "align_corners" && sizes.numel() == 3, ErrorKind::Input,
        "[export.onnx] '{}' resizes in a way that is not known here.", node.name);
  return at::upsample_trilinear3d(x[0], at::IntArrayRef(sizes.const_data_ptr<std::int64_t>(), 3),
                                  /*align_corners=*/true);
}

at::Tensor pool_node(const OnnxNode& node, const std::vector<at::Tensor>& x) {
  const auto pads = attribute<Integers>(node, "pads");
  check(x[0].dim() == 4 && pads.size() == 4, ErrorKind::Input,
        "[export.onnx] '{}' is a maximum that is not known here; expected one of pictures.",
        node.name);
  const auto padded = at::constant_pad_nd(x[0], {pads[1], pads[3], pads[0], pads[2]},
                                          -std::numeric_limits<float>::infinity());
  return at::max_pool2d(padded, attribute<Integers>(node, "kernel_shape"),
                        attribute<Integers>(node, "strides"));
}

at::Tensor mean_node(const OnnxNode&, const std::vector<at::Tensor>& x) {
  Integers axes;
  for (std::int64_t i = 2; i < x[0].dim(); ++i) axes.push_back(i);
  return x[0].mean(axes, true);
}

at::Tensor expand_node(const OnnxNode&, const std::vector<at::Tensor>& x) {
  const auto sizes = x.at(1).contiguous();
  const at::IntArrayRef wanted(sizes.const_data_ptr<std::int64_t>(),
                               static_cast<std::size_t>(sizes.numel()));
  return x[0].expand(at::infer_size(x[0].sizes(), wanted));
}

at::Tensor constant_of(const io::HostTensor& tensor) {
  const auto value = engine::torch_tensor(tensor);
  return tensor.dtype == DType::F16 ? value.to(at::kFloat) : value;
}

/// Computed in f32 here; real f16 arithmetic would overflow to infinity.
void check_half_range(const OnnxNode& node, const at::Tensor& values) {
  constexpr double kLargestHalf = 65504;
  const auto largest = values.abs().max().item<double>();
  check(largest <= kLargestHalf, ErrorKind::Parity,
        "[export.onnx] '{}' leaves the range of f16; got values of {:.3g}, expected at most {}. "
        "Export it in f32 or int8. Nothing was kept.",
        node.name, largest, kLargestHalf);
}

using Inputs = std::vector<at::Tensor>;
using Compute = std::function<at::Tensor(const OnnxNode&, const Inputs&)>;

const std::map<std::string, Compute>& operators() {
  static const std::map<std::string, Compute> kOperators = {
      {"Conv", convolve_node},
      {"DequantizeLinear", dequantise_node},
      {"BatchNormalization",
       [](const OnnxNode& node, const Inputs& x) {
         return at::batch_norm(x[0], x[1], x[2], x[3], x[4], false, 0,
                               attribute<float>(node, "epsilon"), false);
       }},
      {"InstanceNormalization",
       [](const OnnxNode& node, const Inputs& x) {
         return at::instance_norm(x[0], x[1], x[2], {}, {}, true, 0,
                                  attribute<float>(node, "epsilon"), false);
       }},
      {"Identity", [](const OnnxNode&, const Inputs& x) { return x[0]; }},
      {"Relu", [](const OnnxNode&, const Inputs& x) { return at::relu(x[0]); }},
      {"Elu", [](const OnnxNode& node,
                 const Inputs& x) { return at::elu(x[0], attribute<float>(node, "alpha")); }},
      {"Erf", [](const OnnxNode&, const Inputs& x) { return at::erf(x[0]); }},
      {"Tanh", [](const OnnxNode&, const Inputs& x) { return at::tanh(x[0]); }},
      {"Add", [](const OnnxNode&, const Inputs& x) { return x[0] + x[1]; }},
      {"Sub", [](const OnnxNode&, const Inputs& x) { return x[0] - x[1]; }},
      {"Mul", [](const OnnxNode&, const Inputs& x) { return x[0] * x[1]; }},
      {"Div", [](const OnnxNode&, const Inputs& x) { return x[0] / x[1]; }},
      {"Equal", [](const OnnxNode&, const Inputs& x) { return x[0].eq(x[1]); }},
      {"Where", [](const OnnxNode&, const Inputs& x) { return at::where(x[0], x[1], x[2]); }},
      {"ReduceMin",
       [](const OnnxNode& node, const Inputs& x) {
         return x[0].amin(attribute<Integers>(node, "axes"), true);
       }},
      {"ReduceMax",
       [](const OnnxNode& node, const Inputs& x) {
         return x[0].amax(attribute<Integers>(node, "axes"), true);
       }},
      {"Softmax",
       [](const OnnxNode& node, const Inputs& x) {
         return at::softmax(x[0], attribute<std::int64_t>(node, "axis"));
       }},
      {"ArgMax",
       [](const OnnxNode& node, const Inputs& x) {
         return x[0].argmax(attribute<std::int64_t>(node, "axis"));
       }},
      {"MatMul", [](const OnnxNode&, const Inputs& x) { return at::matmul(x[0], x[1]); }},
      {"Transpose",
       [](const OnnxNode& node, const Inputs& x) {
         return x[0].permute(attribute<Integers>(node, "perm"));
       }},
      {"ReduceMean",
       [](const OnnxNode& node, const Inputs& x) {
         return x[0].mean(attribute<Integers>(node, "axes"), true);
       }},
      {"Sqrt", [](const OnnxNode&, const Inputs& x) { return x[0].sqrt(); }},
      {"Neg", [](const OnnxNode&, const Inputs& x) { return -x[0]; }},
      {"Sigmoid", [](const OnnxNode&, const Inputs& x) { return at::sigmoid(x[0]); }},
      {"Cos", [](const OnnxNode&, const Inputs& x) { return x[0].cos(); }},
      {"Sin", [](const OnnxNode&, const Inputs& x) { return x[0].sin(); }},
      {"LessOrEqual", [](const OnnxNode&, const Inputs& x) { return x[0].le(x[1]); }},
      {"Greater", [](const OnnxNode&, const Inputs& x) { return x[0].gt(x[1]); }},
      {"And", [](const OnnxNode&, const Inputs& x) { return x[0].logical_and(x[1]); }},
      {"Gather", gather_node},
      {"LayerNormalization", layer_norm_node},
      {"Range", range_node},
      {"Reshape", reshape_node},
      {"Unsqueeze", unsqueeze_node},
      {"Cast", cast_node},
      {"Shape", shape_node},
      {"Slice", slice_node},
      {"Concat", [](const OnnxNode& node,
                    const Inputs& x) { return at::cat(x, attribute<std::int64_t>(node, "axis")); }},
      {"Resize", resize_node},
      {"MaxPool", pool_node},
      {"GlobalAveragePool", mean_node},
      {"Expand", expand_node},
  };
  return kOperators;
}

}  // namespace

at::Tensor run_onnx(const io::OnnxModel& model, const at::Tensor& input) {
  check(model.inputs.size() == 1 && model.outputs.size() == 1, ErrorKind::Input,
        "[export.onnx] expected one input and one output; got {} and {}.", model.inputs.size(),
        model.outputs.size());
  std::map<std::string, at::Tensor> inputs = {{model.inputs[0].name, input}};
  return run_onnx(model, std::move(inputs)).begin()->second;
}

std::map<std::string, at::Tensor> run_onnx(const io::OnnxModel& model,
                                           std::map<std::string, at::Tensor> values) {
  const at::NoGradGuard no_gradients;
  std::set<std::string> halves;
  for (const auto& tensor : model.constants) {
    values[tensor.name] = constant_of(tensor);
    if (tensor.dtype == DType::F16) halves.insert(tensor.name);
  }
  for (const auto& node : model.nodes) {
    const auto compute = operators().find(node.op);
    check(compute != operators().end(), ErrorKind::Input,
          "[export.onnx] the operator {} is not known here.", node.op);
    Inputs inputs;
    for (const auto& name : node.inputs) {
      if (name.empty()) {  // an optional input that is absent
        inputs.emplace_back();
        continue;
      }
      const auto found = values.find(name);
      check(found != values.end(), ErrorKind::Input,
            "[export.onnx] {} '{}' takes '{}', which nothing has made yet.", node.op, node.name,
            name);
      inputs.push_back(found->second);
    }
    auto& result = values[node.outputs.at(0)] = compute->second(node, inputs);
    const bool product = node.op == "Conv" || node.op == "MatMul";
    if (product && halves.contains(node.inputs.at(1))) check_half_range(node, result);
  }
  std::map<std::string, at::Tensor> outputs;
  for (const auto& output : model.outputs) outputs[output.name] = values.at(output.name);
  return outputs;
}

}  // namespace ubique::exporting

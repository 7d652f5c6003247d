// SPDX-License-Identifier: Apache-2.0
// Convolutions in one, two and three dimensions, padded so that the output keeps the extents.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ubique/probe/probes/groups.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::probe {
namespace {

struct ConvSizes {
  std::vector<std::int64_t> extents, weight;
  double taps;       // kernel positions
  double positions;  // batch x output positions: what a weight's gradient sums over
};

ConvSizes conv_sizes(const Case& request) {
  ConvSizes sizes;
  sizes.extents.assign(request.shape.begin() + 2, request.shape.end());
  sizes.weight = {request.out_channels, request.shape[1]};
  sizes.taps = 1;
  sizes.positions = static_cast<double>(request.shape[0]);
  for (const auto extent : sizes.extents) {
    sizes.weight.push_back(request.kernel);
    sizes.taps *= static_cast<double>(request.kernel);
    sizes.positions *= static_cast<double>(extent);
  }
  return sizes;
}

at::Tensor convolve(const Tensors& in, std::int64_t dilation, std::int64_t padding) {
  switch (in[0].dim()) {
    case 3:
      return at::conv1d(in[0], in[1], in[2], 1, padding, dilation);
    case 4:
      return at::conv2d(in[0], in[1], in[2], 1, padding, dilation);
    default:
      return at::conv3d(in[0], in[1], in[2], 1, padding, dilation);
  }
}

Operation conv_operation(const Case& request) {
  const auto sizes = conv_sizes(request);
  const double inputs = static_cast<double>(request.shape[1]) * sizes.taps;
  const double outputs = static_cast<double>(request.out_channels) * sizes.taps;
  const double growth = request.kernel == 3 && request.dilation == 1 ? kWinogradGrowth : 1;
  // A weight's gradient may be summed sample by sample in the dtype itself.
  const RoundingPath over_positions{sizes.positions, 3, growth};
  Operation operation;
  operation.operands = {
      {.name = "input",
       .shape = request.shape,
       .wants_gradient = !request.frozen_input,
       .gradient_path = {outputs, 3, growth}},
      {.name = "weight",
       .shape = sizes.weight,
       .deviation = 1 / std::sqrt(inputs),
       .gradient_path = over_positions},
      {.name = "bias", .shape = {request.out_channels}, .gradient_path = over_positions}};
  const auto dilation = request.dilation, padding = request.dilation * (request.kernel - 1) / 2;
  operation.forward = [dilation, padding](const Tensors& in) {
    return Tensors{convolve(in, dilation, padding)};
  };
  operation.path = {inputs, 2, growth};
  operation.timed = request.timed;
  operation.work = conv_work(request);
  return operation;
}

std::string conv_tag(const Case& request) {
  const auto sizes = conv_sizes(request);
  std::string tag = fmt::format("c{}", request.shape[1]);
  if (request.out_channels != request.shape[1]) tag += fmt::format("-{}", request.out_channels);
  if (request.kernel != 3) tag += fmt::format("k{}", request.kernel);
  tag += fmt::format("d{}", request.dilation);
  const bool cubic = std::all_of(sizes.extents.begin(), sizes.extents.end(),
                                 [&](auto extent) { return extent == sizes.extents.front(); });
  tag += cubic ? fmt::format("s{}", sizes.extents.front())
               : fmt::format("s{}", fmt::join(sizes.extents, "x"));
  if (request.shape[0] != 1) tag += fmt::format("b{}", request.shape[0]);
  return request.frozen_input ? tag + "f" : tag;
}

/// The op names that the planner and the advice look for.
std::string conv_op(const Case& request) {
  if (request.op == "conv1d") return "conv1d.long";
  if (request.op == "conv3d") return "conv3d.dilated";
  return request.op;
}

Case conv_case(const char* op, std::vector<std::int64_t> shape, std::int64_t out_channels,
               std::int64_t kernel, std::int64_t dilation) {
  Case request{.op = op,
               .shape = std::move(shape),
               .out_channels = out_channels,
               .kernel = kernel,
               .dilation = dilation,
               .dtypes = kProbedDtypes};
  if (request.shape.size() > 3) request.layouts = kBothLayouts;
  return request;
}

}  // namespace

std::vector<Case> conv_cases() {
  std::vector<Case> cases = {
      conv_case("conv1d", {1, 2, 70001}, 3, 7, 1),  // longer than 16 bits can count
      conv_case("conv1d", {2, 8, 257}, 8, 3, 9),
      conv_case("conv2d", {2, 3, 17, 19}, 8, 3, 1),
      conv_case("conv2d", {1, 8, 12, 13}, 4, 1, 1),
      conv_case("conv2d", {1, 4, 16, 16}, 4, 3, 4),
      conv_case("conv2d", {2, 32, 32, 32}, 32, 3, 1),
      conv_case("conv3d", {1, 1, 9, 10, 11}, 5, 3, 1),
      conv_case("conv3d", {2, 5, 8, 8, 8}, 5, 3, 2),
      conv_case("conv3d", {1, 5, 9, 9, 9}, 5, 3, 8),
      conv_case("conv3d", {1, 16, 8, 8, 8}, 16, 3, 4),
      conv_case("conv3d", {1, 5, 8, 8, 8}, 2, 1, 1),
      conv_case("conv3d", {1, 8, 20, 20, 20}, 8, 3, 2),
  };
  for (auto& request : cases)
    request.timed = request.shape.back() == 32 || request.shape.back() == 20;
  return cases;
}

std::vector<Probe> expand_conv(const Case& request) {
  return make_probes({conv_op(request), conv_tag(request), conv_operation(request), request.dtypes,
                      request.layouts, request.gradient});
}

}  // namespace ubique::probe

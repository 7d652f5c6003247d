// SPDX-License-Identifier: Apache-2.0
// Batch norm in training (its running statistics too) and layer norm, also with a frozen input: the
// gradient pattern of frozen embeddings and LoRA.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ubique/probe/probes/groups.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::probe {
namespace {

double product(const std::vector<std::int64_t>& shape, std::size_t from, std::size_t to) {
  double result = 1;
  for (std::size_t i = from; i < to; ++i) result *= static_cast<double>(shape[i]);
  return result;
}

/// A scale or statistic: near 1, positive.
Operand near_one(const char* name, std::int64_t channels, bool wants_gradient, RoundingPath path) {
  return {.name = name,
          .shape = {channels},
          .deviation = 0.1,
          .mean = 1,
          .wants_gradient = wants_gradient,
          .gradient_path = path};
}

Operation batch_norm_operation(const Case& request) {
  const auto channels = request.shape[1];
  const double summed =
      static_cast<double>(request.shape[0]) * product(request.shape, 2, request.shape.size());
  const RoundingPath path{summed, 4};
  Operation operation;
  operation.operands = {{.name = "input",
                         .shape = request.shape,
                         .deviation = 1.5,
                         .mean = 0.5,
                         .wants_gradient = !request.frozen_input,
                         .gradient_path = path},
                        near_one("weight", channels, true, path),
                        {.name = "bias", .shape = {channels}, .gradient_path = path},
                        near_one("running mean", channels, false, {}),
                        near_one("running variance", channels, false, {})};
  // As under autocast: activations in the dtype, parameters and statistics in float32.
  for (std::size_t i = 1; i < operation.operands.size(); ++i)
    operation.operands[i].keeps_f32 = true;
  operation.forward = [](const Tensors& in) {
    const auto output = at::batch_norm(in[0], in[1], in[2], in[3], in[4], true, 0.1, 1e-5, true);
    return Tensors{output, in[3], in[4]};
  };
  operation.path = path;
  operation.timed = request.timed;
  return operation;
}

Operation layer_norm_operation(const Case& request) {
  const auto channels = request.shape.back();
  const RoundingPath over_channels{static_cast<double>(channels), 4};
  const RoundingPath over_rows{product(request.shape, 0, request.shape.size() - 1), 3};
  Operation operation;
  operation.operands = {{.name = "input",
                         .shape = request.shape,
                         .deviation = 1.5,
                         .mean = 0.5,
                         .wants_gradient = !request.frozen_input,
                         .gradient_path = over_channels},
                        near_one("weight", channels, true, over_rows),
                        {.name = "bias", .shape = {channels}, .gradient_path = over_rows}};
  operation.forward = [channels](const Tensors& in) {
    return Tensors{at::layer_norm(in[0], {channels}, in[1], in[2], 1e-5)};
  };
  operation.path = over_channels;
  operation.timed = request.timed;
  return operation;
}

Case norm_case(const char* op, std::vector<std::int64_t> shape, bool frozen = false) {
  Case request{
      .op = op, .shape = std::move(shape), .frozen_input = frozen, .dtypes = kProbedDtypes};
  if (request.shape.size() > 3) request.layouts = kBothLayouts;
  return request;
}

std::string norm_tag(const Case& request) {
  return fmt::format("{}", fmt::join(request.shape, "x"));
}

}  // namespace

std::vector<Case> norm_cases() {
  return {norm_case("batch_norm2d", {3, 5, 7, 9}),    norm_case("batch_norm2d", {2, 8, 16, 16}),
          norm_case("batch_norm3d", {2, 5, 6, 7, 8}), norm_case("batch_norm3d", {1, 3, 12, 12, 12}),
          norm_case("layer_norm", {2, 33, 48}),       norm_case("layer_norm", {3, 768}),
          norm_case("layer_norm", {2, 33, 48}, true), norm_case("layer_norm", {70, 256}, true)};
}

std::vector<Probe> expand_batch_norm(const Case& request) {
  const auto tag = norm_tag(request) + (request.frozen_input ? "f" : "");
  return make_probes({request.op, tag, batch_norm_operation(request), request.dtypes,
                      request.layouts, request.gradient});
}

std::vector<Probe> expand_layer_norm(const Case& request) {
  const auto op = request.frozen_input ? "layer_norm.frozen_input" : "layer_norm";
  return make_probes({op, norm_tag(request), layer_norm_operation(request), request.dtypes,
                      request.layouts, request.gradient});
}

}  // namespace ubique::probe

// SPDX-License-Identifier: Apache-2.0
// Matrix products, plain and as a linear layer.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "ubique/probe/probes/groups.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::probe {
namespace {

std::int64_t rows_of(const std::vector<std::int64_t>& shape) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  return rows;
}

double terms(std::int64_t count) { return static_cast<double>(count); }

Operation matmul_operation(const Case& request) {
  const auto rows = request.shape[request.shape.size() - 2];
  const auto inner = request.shape.back(), columns = request.out_channels;
  auto right = request.shape;  // (B, K, N)
  right[right.size() - 2] = inner;
  right.back() = columns;
  Operation operation;
  operation.operands = {
      {.name = "left", .shape = request.shape, .gradient_path = {.terms = terms(columns)}},
      {.name = "right",
       .shape = right,
       .deviation = 1 / std::sqrt(terms(inner)),
       .gradient_path = {.terms = terms(rows)}}};
  operation.forward = [](const Tensors& in) { return Tensors{at::matmul(in[0], in[1])}; };
  operation.path = {.terms = terms(inner)};
  operation.timed = request.timed;
  return operation;
}

Operation linear_operation(const Case& request) {
  const auto channels = request.shape.back(), outputs = request.out_channels;
  const double rows = terms(rows_of(request.shape));
  const double deviation = 1 / std::sqrt(terms(channels));
  Operation operation;
  operation.operands = {{.name = "input",
                         .shape = request.shape,
                         .wants_gradient = !request.frozen_input,
                         .gradient_path = {.terms = terms(outputs)}},
                        {.name = "weight",
                         .shape = {outputs, channels},
                         .deviation = deviation,
                         .gradient_path = {.terms = rows}},
                        {.name = "bias", .shape = {outputs}, .gradient_path = {.terms = rows}}};
  operation.forward = [](const Tensors& in) { return Tensors{at::linear(in[0], in[1], in[2])}; };
  operation.path = {.terms = terms(channels), .roundings = 2};  // product, then bias
  operation.timed = request.timed;
  return operation;
}

std::string product_tag(const Case& request) {
  return fmt::format("{}-{}{}", fmt::join(request.shape, "x"), request.out_channels,
                     request.frozen_input ? "f" : "");
}

}  // namespace

std::vector<Case> matmul_cases() {
  return {
      {.op = "matmul", .shape = {33, 70}, .out_channels = 17, .dtypes = kProbedDtypes},
      {.op = "matmul", .shape = {3, 31, 256}, .out_channels = 48, .dtypes = kProbedDtypes},
      {.op = "matmul",
       .shape = {384, 384},
       .out_channels = 384,
       .dtypes = kProbedDtypes,
       .timed = true},
      {.op = "linear", .shape = {2, 33, 48}, .out_channels = 65, .dtypes = kProbedDtypes},
      {.op = "linear", .shape = {5, 31}, .out_channels = 1, .dtypes = kProbedDtypes},
      {.op = "linear",
       .shape = {7, 64},
       .out_channels = 32,
       .frozen_input = true,
       .dtypes = kProbedDtypes},
  };
}

std::vector<Probe> expand_matmul(const Case& request) {
  return make_probes({"matmul", product_tag(request), matmul_operation(request), request.dtypes,
                      request.layouts, request.gradient});
}

std::vector<Probe> expand_linear(const Case& request) {
  return make_probes({"linear", product_tag(request), linear_operation(request), request.dtypes,
                      request.layouts, request.gradient});
}

}  // namespace ubique::probe

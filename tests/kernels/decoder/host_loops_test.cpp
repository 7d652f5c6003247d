// SPDX-License-Identifier: Apache-2.0
// The loops of a decoding step, of every instruction set, against ATen in f64.
#include "ubique/kernels/decoder/host_loops.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/tensors.h"

using namespace ubique;
using kernels::HostActivation, kernels::HostLoops;

namespace {

kernels::HostValues values_of(const at::Tensor& tensor) {
  return {tensor.const_data_ptr(), tensor.scalar_type() == at::kBFloat16};
}

at::Tensor empty_f32(at::IntArrayRef shape) {
  return at::full(shape, NAN, at::TensorOptions(at::kFloat));
}

at::Tensor product(const HostLoops& loops, const at::Tensor& x, const at::Tensor& weight) {
  const auto out = empty_f32({x.size(0), weight.size(0)});
  loops.multiply({.weight = values_of(weight),
                  .x = x.const_data_ptr<float>(),
                  .out = out.mutable_data_ptr<float>(),
                  .rows = x.size(0),
                  .columns = x.size(1),
                  .weight_rows = weight.size(0),
                  .begin = 0,
                  .end = weight.size(0)});
  return out;
}

at::Tensor attended(const HostLoops& loops, const at::Tensor& q, const at::Tensor& k,
                    const at::Tensor& v, std::int64_t first, std::int64_t end) {
  const auto out = empty_f32(q.sizes());
  loops.attend({.queries = q.const_data_ptr<float>(),
                .keys = values_of(k),
                .values = values_of(v),
                .first = first,
                .end = end,
                .heads = q.size(0),
                .size = q.size(1),
                .query_stride = q.size(1),
                .scale = 0.125F,
                .out = out.mutable_data_ptr<float>()});
  return out;
}

at::Tensor activated(const HostLoops& loops, HostActivation kind, const at::Tensor& x,
                     const at::Tensor& factors) {
  auto out = x.clone();
  loops.activate(kind, out.mutable_data_ptr<float>(),
                 factors.defined() ? factors.const_data_ptr<float>() : nullptr, x.numel());
  return out;
}

}  // namespace

TEST_CASE("host loops: products with f32 and bf16 weights, alike for one row and several") {
  for (const std::int64_t columns : {1, 8, 33, 160, 257}) {
    for (const auto dtype : {at::kFloat, at::kBFloat16}) {
      const auto weight = test::random_tensor({5, columns}, 1).to(dtype);
      const auto x = test::random_tensor({6, columns}, 2);
      const auto expected = at::linear(x.to(at::kDouble), weight.to(at::kDouble));
      for (const auto& loops : kernels::all_host_loops()) {
        CAPTURE(std::string(loops.name));
        const auto together = product(loops, x, weight);
        CHECK(test::distance(together.to(at::kDouble), expected) < 2e-5);
        for (std::int64_t row = 0; row < 6; ++row) {
          CHECK(at::equal(product(loops, x.narrow(0, row, 1), weight)[0], together[row]));
        }
      }
    }
  }
}

TEST_CASE("host loops: attention over a part of the cached positions") {
  for (const std::int64_t size : {3, 16, 64, 80}) {
    for (const auto dtype : {at::kFloat, at::kBFloat16}) {
      const auto q = test::random_tensor({5, size}, 1) * 4;
      const auto k = (test::random_tensor({200, size}, 2) * 4).to(dtype);
      const auto v = test::random_tensor({200, size}, 3).to(dtype);
      for (const auto& [first, end] : {std::pair(0, 1), {0, 64}, {3, 197}, {100, 165}}) {
        const auto wide = [&](const at::Tensor& x) {
          return x.slice(0, first, end).to(at::kDouble);
        };
        const auto scores = at::matmul(q.to(at::kDouble), wide(k).t()) * 0.125;
        const auto expected = at::matmul(scores.softmax(-1), wide(v));
        for (const auto& loops : kernels::all_host_loops()) {
          CAPTURE(std::string(loops.name));
          const auto got = attended(loops, q.contiguous(), k.contiguous(), v, first, end);
          CHECK(test::distance(got.to(at::kDouble), expected) < 1e-5);
        }
      }
    }
  }
}

TEST_CASE("host loops: scores far apart neither overflow nor lose the largest") {
  auto k = at::zeros({130, 16}, at::TensorOptions(at::kFloat));
  k[70].fill_(1e4F);
  const auto v = test::random_tensor({130, 16}, 3);
  const auto q = at::ones({1, 16}, at::TensorOptions(at::kFloat));
  for (const auto& loops : kernels::all_host_loops()) {
    CHECK(test::distance(attended(loops, q, k, v, 0, 130)[0], v[70]) < 1e-6);
  }
}

TEST_CASE("host loops: norms of sums, centred or not, also in place") {
  for (const std::int64_t size : {5, 16, 100, 768}) {
    const auto x = test::random_tensor({size}, 1), a = test::random_tensor({size}, 2),
               b = test::random_tensor({size}, 3);
    const auto weight = test::random_tensor({size}, 4), bias = test::random_tensor({size}, 5);
    const auto sum = (x + a + b).to(at::kDouble);
    const auto rms = sum * (sum.square().mean() + 1e-5).rsqrt();
    const auto centred =
        at::layer_norm(sum, {size}, weight.to(at::kDouble), bias.to(at::kDouble), 1e-5);
    for (const auto& loops : kernels::all_host_loops()) {
      CAPTURE(std::string(loops.name));
      auto kept = x.clone();
      const auto out = empty_f32({size});
      kernels::HostNorm norm{.x = kept.mutable_data_ptr<float>(),
                             .branches = {a.const_data_ptr<float>(), b.const_data_ptr<float>()},
                             .weight = weight.const_data_ptr<float>(),
                             .bias = bias.const_data_ptr<float>(),
                             .size = size,
                             .epsilon = 1e-5F,
                             .out = out.mutable_data_ptr<float>()};
      loops.normalize(norm);
      CHECK(test::distance(out.to(at::kDouble), centred) < 1e-5);
      CHECK(test::distance(kept.to(at::kDouble), sum) < 1e-6);
      norm = {.x = norm.x, .size = size, .center = false, .epsilon = 1e-5F, .out = norm.x};
      loops.normalize(norm);
      CHECK(test::distance(kept.to(at::kDouble), rms) < 1e-5);
    }
  }
}

TEST_CASE("host loops: activations, also far from 0, and times factors") {
  const auto x = at::cat({test::random_tensor({300}, 1) * 3,
                          at::tensor({-1e4F, -80.0F, -20.0F, -8.0F, 0.0F, 8.0F, 50.0F, 1e4F})});
  const auto factors = test::random_tensor({308}, 2);
  const auto wide = x.to(at::kDouble);
  const std::pair<HostActivation, at::Tensor> cases[] = {
      {HostActivation::Silu, at::silu(wide)},
      {HostActivation::Gelu, at::gelu(wide)},
      {HostActivation::GeluTanh, at::gelu(wide, "tanh")}};
  for (const auto& [kind, expected] : cases) {
    for (const auto& loops : kernels::all_host_loops()) {
      CAPTURE(std::string(loops.name));
      const auto scale = 1 + wide.abs();
      const auto alone = activated(loops, kind, x, {}).to(at::kDouble);
      CHECK(test::distance(alone / scale, expected / scale) < 1e-6);
      const auto times = activated(loops, kind, x, factors).to(at::kDouble);
      CHECK(test::distance(times / scale, expected * factors.to(at::kDouble) / scale) < 4e-6);
    }
  }
}

TEST_CASE("host loops: a NaN goes through, and is found among logits") {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto infinite = std::numeric_limits<float>::infinity();
  for (const auto& loops : kernels::all_host_loops()) {
    CAPTURE(std::string(loops.name));
    for (const auto kind : {HostActivation::Silu, HostActivation::Gelu, HostActivation::GeluTanh}) {
      float one = nan;
      loops.activate(kind, &one, nullptr, 1);
      CHECK(std::isnan(one));
    }
    for (const std::int64_t count : {1, 16, 45}) {
      auto values = test::random_tensor({count}, 7).clamp(-2, 2);
      float* data = values.mutable_data_ptr<float>();
      const auto last = count - 1;
      data[last] = 3;
      CHECK(loops.find_largest(data, count) == last);
      data[count / 2] = 3;  // of equal ones the first
      CHECK(loops.find_largest(data, count) == count / 2);
      data[last] = infinite;
      CHECK(loops.find_largest(data, count) == last);
      data[0] = nan;
      CHECK(loops.find_largest(data, count) == 0);
    }
  }
}

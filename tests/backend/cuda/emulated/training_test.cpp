// SPDX-License-Identifier: Apache-2.0
// The kernels around the products of a training step, run on the host thread by thread, against
// plain ops in double.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/backend/cuda/emulated/cuda.h"

// Shared by the threads of a block, which run in one thread of the host.
#undef __shared__
#define __shared__ thread_local

namespace ubique::test::emulated::training {

/// One way to compile add_norm.cu.
struct Norm {
  std::int64_t width;
  bool wide, center;
  unsigned threads;
  void (*forward)(const void*, const void*, const float*, const float*, const float*, void*, void*,
                  float*, long long);
  void (*backward)(const void*, const void*, const void*, const float*, const float*, void*, void*,
                   float*, long long);
};

namespace narrow_rows {  // a warp for each row, most of whose lanes have nothing
#define WIDTH 40
#define WARPS 1
#define WIDE_RESIDUAL 0
#define CENTER 0
#define add_norm narrow_add_norm
#define add_norm_backward narrow_add_norm_backward
#include "tests/backend/cuda/emulated/add_norm_case.h"
}  // namespace narrow_rows

namespace one_warp {  // whole turns
#define WIDTH 256
#define WARPS 1
#define WIDE_RESIDUAL 1
#define CENTER 1
#define add_norm one_warp_add_norm
#define add_norm_backward one_warp_add_norm_backward
#include "tests/backend/cuda/emulated/add_norm_case.h"
}  // namespace one_warp

namespace two_warps {  // the last turn is not whole
#define WIDTH 776
#define WARPS 2
#define WIDE_RESIDUAL 1
#define CENTER 1
#define add_norm two_warps_add_norm
#define add_norm_backward two_warps_add_norm_backward
#include "tests/backend/cuda/emulated/add_norm_case.h"
}  // namespace two_warps

namespace eight_warps {
#define WIDTH 1032
#define WARPS 8
#define WIDE_RESIDUAL 0
#define CENTER 1
#define add_norm eight_warps_add_norm
#define add_norm_backward eight_warps_add_norm_backward
#include "tests/backend/cuda/emulated/add_norm_case.h"
}  // namespace eight_warps

namespace gelus {
#include "ubique/backend/cuda/sources/training/gelu.cu"
}  // namespace gelus
namespace joins {
using gelus::kTileWarps, gelus::store_sums, gelus::Tile, gelus::tile_of;
#include "ubique/backend/cuda/sources/training/join_qkv.cu"
}  // namespace joins
namespace row_sums {
#include "ubique/backend/cuda/sources/training/sum_rows.cu"
}  // namespace row_sums

namespace kept_tokens {
thread_local Vector kept_logits[1024];
#define KEPT 1
#define memory kept_logits
#define token_gradient kept_token_gradient
#include "ubique/backend/cuda/sources/training/token_gradient.cu"
#undef token_gradient
#undef memory
#undef KEPT
}  // namespace kept_tokens
namespace read_tokens {
#define KEPT 0
#define token_gradient read_token_gradient
#include "ubique/backend/cuda/sources/training/token_gradient.cu"
#undef token_gradient
#undef KEPT
}  // namespace read_tokens

namespace {

at::Tensor bf16(at::IntArrayRef shape) { return at::randn(shape).to(at::kBFloat16); }
at::Tensor doubles(const at::Tensor& x) { return x.detach().to(at::kDouble); }

double off_by(const at::Tensor& got, const at::Tensor& expected) {
  return ((doubles(got) - expected).norm() / expected.norm()).item<double>();
}

const Vector* vectors(const at::Tensor& x) {
  return static_cast<const Vector*>(x.const_data_ptr());
}
Vector* room(const at::Tensor& x) { return static_cast<Vector*>(x.mutable_data_ptr()); }

/// Rows of f32 added up by the kernel.
at::Tensor added_rows(const at::Tensor& matrix) {
  const int rows = static_cast<int>(matrix.size(0));
  const int columns = static_cast<int>(matrix.numel() / rows);
  auto sums = at::full({columns}, NAN);
  launch(static_cast<unsigned>(columns + 31) / 32, 256, [&] {
    row_sums::sum_rows(matrix.const_data_ptr<float>(), sums.mutable_data_ptr<float>(), rows,
                       columns);
  });
  return sums.view(matrix.sizes().slice(1));
}

struct NormCase {
  at::Tensor residual, branch, offset, weight, bias, of_sum, of_norm;
};

/// Results and gradients in double.
std::vector<at::Tensor> expected_norm(const Norm& norm, const NormCase& given) {
  const auto leaf = [](const at::Tensor& x) { return doubles(x).requires_grad_(); };
  const auto residual = leaf(given.residual), branch = leaf(given.branch);
  const auto offset = leaf(given.offset), weight = leaf(given.weight), bias = leaf(given.bias);
  const auto sum = residual + branch + offset;
  const auto mean = norm.center ? sum.mean(-1, true) : at::zeros({1}, at::kDouble);
  const auto inverse = ((sum - mean).square().mean(-1, true) + 1e-5).rsqrt();
  const auto normed = (sum - mean) * inverse * weight + bias;
  ((sum * doubles(given.of_sum)).sum() + (normed * doubles(given.of_norm)).sum()).backward();
  return {sum.detach(),  normed.detach(), residual.grad(),
          weight.grad(), bias.grad(),     offset.grad()};
}

void check_norm(const Norm& norm, std::int64_t rows, unsigned blocks) {
  const auto stream = norm.wide ? at::kFloat : at::kBFloat16;
  const auto width = norm.width;
  const NormCase given{at::randn({rows, width}).to(stream),
                       bf16({rows, width}),
                       at::randn({width}),
                       at::randn({width}),
                       at::randn({width}),
                       at::randn({rows, width}).to(stream),
                       bf16({rows, width})};
  const auto nothing = [](const at::Tensor& like) { return at::full_like(like, NAN); };
  auto sum = nothing(given.residual), normed = nothing(given.branch);
  auto statistics = at::full({rows, 2}, NAN);
  launch(blocks, norm.threads, [&] {
    norm.forward(given.residual.const_data_ptr(), given.branch.const_data_ptr(),
                 given.offset.const_data_ptr<float>(), given.weight.const_data_ptr<float>(),
                 given.bias.const_data_ptr<float>(), sum.mutable_data_ptr(),
                 normed.mutable_data_ptr(), statistics.mutable_data_ptr<float>(), rows);
  });
  auto of_residual = nothing(given.residual), of_branch = nothing(given.branch);
  auto partial = at::full({blocks, 3, width}, NAN);
  launch(blocks, norm.threads, [&] {
    norm.backward(given.of_sum.const_data_ptr(), given.of_norm.const_data_ptr(),
                  sum.const_data_ptr(), given.weight.const_data_ptr<float>(),
                  statistics.const_data_ptr<float>(), of_residual.mutable_data_ptr(),
                  of_branch.mutable_data_ptr(), partial.mutable_data_ptr<float>(), rows);
  });
  const auto sums = added_rows(partial);
  const auto expected = expected_norm(norm, given);
  const auto rounding = norm.wide ? 1e-5 : 6e-3;
  CHECK(off_by(sum, expected[0]) < rounding);
  CHECK(off_by(normed, expected[1]) < 6e-3);
  CHECK(off_by(of_residual, expected[2]) < rounding);
  CHECK(off_by(of_branch, expected[2]) < 6e-3);
  CHECK(off_by(sums[0], expected[3]) < rounding);
  CHECK(off_by(sums[1], expected[4]) < 1e-5);
  CHECK(off_by(sums[2], expected[5]) < rounding);
}

}  // namespace

TEST_CASE("cuda training: sum, bias, norm and their gradients against double") {
  at::manual_seed(1);
  for (const auto& norm :
       {narrow_rows::kNorm, one_warp::kNorm, two_warps::kNorm, eight_warps::kNorm}) {
    CAPTURE(norm.width);
    for (const std::int64_t rows : {1, 23, 40}) {
      CAPTURE(rows);
      check_norm(norm, rows, 3);
    }
  }
}

TEST_CASE("cuda training: GELU, its gradient in place and the sums of columns against double") {
  at::manual_seed(2);
  for (const auto& [rows, columns, blocks] : {std::tuple{1, 8, 1U}, {70, 264, 4U}, {39, 512, 2U}}) {
    for (const bool biased : {true, false}) {
      CAPTURE(rows);
      const auto x = bf16({rows, columns}) * 3, incoming = bf16({rows, columns});
      const auto bias = at::randn({columns});
      const float* shift = biased ? bias.const_data_ptr<float>() : nullptr;
      const int width = columns / 8;
      const auto leaf = doubles(x).requires_grad_();
      const auto expected = at::gelu(biased ? leaf + doubles(bias) : leaf, "tanh");
      (expected * doubles(incoming)).sum().backward();
      auto y = at::full_like(x, NAN);
      launch(blocks, 256, [&] { gelus::gelu(vectors(x), shift, room(y), rows, width); });
      CHECK(off_by(y, doubles(expected)) < 4e-3);
      const auto slabs = blocks / static_cast<unsigned>((width + 31) / 32);
      auto partial = at::full({slabs, columns}, NAN);
      auto gradient = incoming.clone(), again = x.clone();
      launch(blocks, 256, [&] {
        gelus::gelu_backward(vectors(gradient), vectors(again), shift, room(gradient),
                             biased ? room(again) : nullptr, partial.mutable_data_ptr<float>(),
                             rows, width);
      });
      CHECK(off_by(gradient, leaf.grad()) < 4e-3);
      CHECK(off_by(added_rows(partial), leaf.grad().sum(0)) < 1e-5);
      CHECK(at::equal(again, biased ? y : x));
    }
  }
}

TEST_CASE("cuda training: gradients of heads side by side, in any order of their dimensions") {
  at::manual_seed(3);
  const auto q = bf16({2, 21, 5, 16}).transpose(1, 2), k = bf16({2, 1, 21, 16}),
             v = bf16({2, 21, 1, 16}).transpose(1, 2);
  const auto rows = [](const at::Tensor& x) { return x.transpose(1, 2).flatten(2); };
  const auto expected = at::cat({rows(q), rows(k), rows(v)}, -1);
  const auto part = [](const at::Tensor& x) {
    return joins::Part{vectors(x), x.stride(0) / 8, x.stride(1) / 8, x.stride(2) / 8,
                       static_cast<int>(x.size(1))};
  };
  const joins::Parts parts{{part(q), part(k), part(v)}};
  auto product = at::full({2, 21, 112}, NAN, q.options()), partial = at::full({3, 112}, NAN);
  launch(3, 256, [&] {
    joins::join_qkv(parts, room(product), partial.mutable_data_ptr<float>(), 2, 21, 14, 2);
  });
  CHECK(at::equal(product, expected));
  CHECK(off_by(added_rows(partial), doubles(expected).flatten(0, 1).sum(0)) < 1e-5);
}

TEST_CASE("cuda training: the loss's gradient in place of logits, in shared memory and without") {
  at::manual_seed(4);
  const std::int64_t width = 8 * 517;  // a turn of all threads and a rest
  const auto logits = bf16({4, width}) * 2;
  const auto labels = at::tensor({std::int64_t{0}, width - 1, std::int64_t{-100}, width / 2});
  logits[3][width / 2].fill_(20);  // predicted right
  const auto logs = at::log_softmax(doubles(logits), 1);
  const auto counts = labels.ge(0).to(at::kDouble);
  const auto target = labels.clamp_min(0).unsqueeze(1);
  const auto hot = at::zeros_like(logs).scatter(1, target, 1);
  const auto expected = (logs.exp() - hot) * counts.unsqueeze(1);
  for (const auto kernel : {kept_tokens::kept_token_gradient, read_tokens::read_token_gradient}) {
    const auto gradient = logits.clone();
    auto loss = at::full({4}, NAN), correct = at::full({4}, NAN);
    launch(4, 512, [&] {
      kernel(room(gradient), reinterpret_cast<const long long*>(labels.const_data_ptr()),
             loss.mutable_data_ptr<float>(), correct.mutable_data_ptr<float>(),
             static_cast<int>(width / 8), 1);
    });
    CHECK(off_by(loss, -logs.gather(1, target).squeeze(1) * counts) < 1e-6);
    CHECK(at::equal(correct, at::tensor({0.F, 0.F, 0.F, 1.F})));
    CHECK(off_by(gradient, expected) < 4e-3);
  }
}

}  // namespace ubique::test::emulated::training

#undef __shared__
#define __shared__

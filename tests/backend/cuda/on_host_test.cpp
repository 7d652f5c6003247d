// SPDX-License-Identifier: Apache-2.0
// Kernels without warps or shared memory run on the host, thread by thread, in bf16: what they
// compute is compared with plain ops without a card.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "ubique/kernels/diffusion/gated_conv.h"
#include "ubique/kernels/diffusion/rotate_pairs.h"

namespace {

/// What the compiler of kernels has built in.
namespace on_host {

struct Place {
  unsigned x;
};
Place threadIdx, blockIdx, blockDim, gridDim;

struct float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __expf(float x) { return std::exp(x); }

#define __device__
#define __global__
#define asm(...)
#define SCALAR 1
#define PARTS 2
#define ONES 8
#define RELU 1
#define WIDE 1
#define ROWS 8
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include "ubique/backend/cuda/sources/biased_silu.cu"
#include "ubique/backend/cuda/sources/gated_conv.cu"
#include "ubique/backend/cuda/sources/rotate_pairs.cu"
#pragma GCC diagnostic pop
#undef __device__
#undef __global__
#undef asm
#undef SCALAR
#undef PARTS
#undef ONES
#undef RELU
#undef WIDE
#undef ROWS

/// Three blocks of 32 threads, fewer than there are items: they take several.
template <typename Kernel, typename... Args>
void launch(const Kernel& kernel, const Args&... args) {
  gridDim.x = 3, blockDim.x = 32;
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) kernel(args...);
  }
}

}  // namespace on_host

at::Tensor half_values(at::IntArrayRef shape) { return at::randn(shape).to(at::kBFloat16); }

const on_host::Vector* vectors(const at::Tensor& x) {
  return static_cast<const on_host::Vector*>(x.const_data_ptr());
}

double off_by(const at::Tensor& got, const at::Tensor& expected) {
  const auto wide = expected.to(at::kDouble);
  return ((got.to(at::kDouble) - wide).norm() / wide.norm()).item<double>();
}

}  // namespace

TEST_CASE("cuda on the host: the source of gated_conv is plain ops, ends and odd rests too") {
  at::manual_seed(3);
  for (const std::int64_t frames : {1, 7, 8, 21}) {
    CAPTURE(frames);
    const auto x = half_values({2, frames, 48});
    const auto weight = half_values({48, 1, 3}), bias = half_values({48});
    auto y = at::full({2, frames, 24}, NAN, x.options());
    const long long items = 2 * ((frames + 7) / 8) * 3;
    on_host::launch(on_host::gated_conv, vectors(x), vectors(weight), vectors(bias),
                    static_cast<on_host::Vector*>(y.mutable_data_ptr()), items,
                    static_cast<int>(frames), 3);
    const auto wide = [](const at::Tensor& z) { return z.to(at::kFloat); };
    const auto expected = ubique::kernels::plain_gated_conv(wide(x), wide(weight), wide(bias));
    CHECK(off_by(y, expected) < 4e-3);
  }
}

TEST_CASE("cuda on the host: the source of biased_silu is plain ops, with a residual and without") {
  at::manual_seed(5);
  for (const bool added : {true, false}) {
    CAPTURE(added);
    const auto x = half_values({33, 24}), bias = half_values({24}),
               residual = half_values({33, 24});
    auto silu = x.clone(), sum = at::full_like(x, NAN);
    on_host::launch(on_host::biased_silu, static_cast<on_host::Vector*>(silu.mutable_data_ptr()),
                    vectors(bias), added ? vectors(residual) : nullptr,
                    static_cast<on_host::Vector*>(sum.mutable_data_ptr()), 33LL * 3, 3);
    auto expected = x.to(at::kFloat) + bias.to(at::kFloat);
    if (added) expected = expected + residual.to(at::kFloat);
    CHECK(off_by(silu, at::silu(expected)) < 4e-3);
    if (added) CHECK(off_by(sum, expected) < 4e-3);
  }
}

TEST_CASE("cuda on the host: the source of rotate_pairs is plain ops, with columns of ones") {
  at::manual_seed(4);
  const auto x = half_values({2, 5, 3 * 16});
  const auto cos = at::randn({5, 16}), sin = at::randn({5, 16});
  for (const bool turned : {true, false}) {
    CAPTURE(turned);
    auto y = at::full({2, 3, 5, 24}, NAN);
    const float* none = nullptr;
    on_host::launch(on_host::rotate_pairs, vectors(x), turned ? cos.const_data_ptr<float>() : none,
                    turned ? sin.const_data_ptr<float>() : none,
                    static_cast<on_host::Out*>(y.mutable_data_ptr()), 10LL, 5, 3);
    ubique::kernels::PairRotation rotation{.heads = 3, .relu = true, .ones = 8};
    if (turned) rotation.cos = cos, rotation.sin = sin;
    CHECK(off_by(y, ubique::kernels::rotate_pairs(x, rotation, at::kFloat)) < 1e-6);
    CHECK(y.slice(-1, 16).eq(1).all().item<bool>());
  }
}

// SPDX-License-Identifier: Apache-2.0
// Blocks whose parts go through a device's kernels, here fake ones on the CPU that compute in plain
// ops: the same velocities, and the same gradients, which are those of the plain ops.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <doctest/doctest.h>
#include <torch/library.h>

#include <optional>

#include "tests/models/acestep/golden.h"
#include "tests/models/acestep/random_codec.h"
#include "tests/models/acestep/small_model.h"
#include "ubique/kernels/diffusion/gated_conv.h"
#include "ubique/nn/layers/rope.h"

using namespace ubique;
using test::distance, test::random_tensor;

namespace {

using Optional = std::optional<at::Tensor>;

bool block_fakes = false;  // in other tests the CPU has none of these
int pair_calls = 0, conv_calls = 0, silu_calls = 0;

bool fake_has_pairs(const at::Tensor&, std::int64_t, std::int64_t, at::ScalarType) {
  return block_fakes;
}
bool fake_has_conv(const at::Tensor&, const at::Tensor&) { return block_fakes; }

at::Tensor fake_turned(const at::Tensor& x, const Optional& cos, const Optional& sin,
                       std::int64_t heads, bool relu, std::int64_t ones, at::ScalarType dtype) {
  ++pair_calls;
  auto y = x.unflatten(-1, {heads, -1}).transpose(1, 2).to(at::kFloat);
  if (cos) y = nn::apply_rope_neighbours(y, *cos, *sin);
  if (relu) y = y.clamp_min(0);
  return at::constant_pad_nd(y, {0, ones}, 1).to(dtype).contiguous();
}

at::Tensor fake_conv(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  ++conv_calls;
  return kernels::plain_gated_conv(x.clone(), weight, bias);
}

void fake_silu(const at::Tensor& x, const at::Tensor& bias, const Optional& residual,
               const Optional& sum) {
  ++silu_calls;
  auto y = x + bias.view({1, -1, 1, 1});
  if (residual) {
    y = y + *residual;
    sum->copy_(y);
  }
  x.copy_(at::silu(y));
}

struct BlockFakes {
  BlockFakes() {
    block_fakes = true;
    pair_calls = conv_calls = silu_calls = 0;
  }
  ~BlockFakes() { block_fakes = false; }
};

struct RandomDit {
  RandomDit() : dit(config()) {
    const at::NoGradGuard no_gradients;
    std::uint64_t seed = 31;
    for (auto& parameter : dit.parameters()) {
      parameter.copy_(random_tensor(parameter.sizes(), seed++) / 4);
    }
  }

  static acestep::DitConfig config() {
    auto made = test::smallest_networks().transformer;
    made.projectors = false;
    return made;
  }

  at::Tensor velocity(bool recompute = false) const {
    const auto ids = at::arange(1, 6, at::kLong).unsqueeze(0).repeat({2, 1});
    const auto context = dit.encode({.text = random_tensor({2, 3, dit.config().text_size}, 7),
                                     .text_mask = at::ones({2, 3}, at::kLong),
                                     .speaker = random_tensor({2, dit.config().speaker_size}, 8),
                                     .lyric_ids = ids,
                                     .lyric_mask = at::ones_like(ids)});
    return dit
        .forward({.latents = random_tensor({2, 8, 16, 7}, 9), .timestep = at::full({1}, 400.0)},
                 context, {.recompute = recompute})
        .velocity;
  }

  std::vector<at::Tensor> gradients(bool recompute) {
    dit.zero_grad();
    velocity(recompute).square().sum().backward();
    std::vector<at::Tensor> found;
    for (const auto& parameter : dit.parameters()) {
      if (parameter.grad().defined()) found.push_back(parameter.grad().clone());
    }
    return found;
  }

  acestep::Dit dit;
};

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CPU, library) {
  library.impl("does_rotate_pairs", TORCH_FN(fake_has_pairs));
  library.impl("rotate_pairs", TORCH_FN(fake_turned));
  library.impl("does_gated_conv", TORCH_FN(fake_has_conv));
  library.impl("gated_conv", TORCH_FN(fake_conv));
  library.impl("does_biased_silu", TORCH_FN(fake_has_conv));
  library.impl("biased_silu_", TORCH_FN(fake_silu));
}

TEST_CASE("acestep: the vocoder through a kernel has the sound of plain ops, its input unchanged") {
  if (!test::kDevice.is_cpu()) return;
  const test::SmallCodec codec;
  const at::NoGradGuard no_gradients;
  const auto mel = random_tensor({2, 16, 11}, 5), before = mel.clone();
  const auto expected = codec.vocoder.forward(mel);
  const BlockFakes fakes;
  CHECK(distance(codec.vocoder.forward(mel), expected) < 1e-5);
  CHECK(distance(mel, before) == 0);
  CHECK(silu_calls >= 2 * 2 * 2 * 2);  // stages, blocks, dilations, convolutions
}

TEST_CASE("acestep: a vocoder whose residual blocks are empty, as the small one's, is run too") {
  if (!test::kDevice.is_cpu()) return;
  auto config = test::small_vocoder();
  config.resblock_kernels = {3};
  config.resblock_dilations = {{}};
  acestep::Vocoder vocoder(config);
  test::fill_randomly(vocoder);
  const at::NoGradGuard no_gradients;
  const BlockFakes fakes;
  const auto sound = vocoder.forward(random_tensor({2, 16, 11}, 5));
  CHECK(sound.sizes() == at::IntArrayRef({2, 1, 11 * 16}));
  CHECK(sound.abs().max().item<double>() > 0.01);
}

TEST_CASE("acestep: blocks through kernels have the velocities of plain ops") {
  if (!test::kDevice.is_cpu()) return;
  const RandomDit random;
  const at::NoGradGuard no_gradients;
  const auto expected = random.velocity();
  const BlockFakes fakes;
  CHECK(distance(random.velocity(), expected) < 1e-5);
  const auto layers = static_cast<int>(random.dit.config().layers);
  CHECK(pair_calls >= 4 * layers);  // and those of the checks
  CHECK(conv_calls >= layers);
}

TEST_CASE("acestep: blocks through kernels have the gradients of plain ops, recomputed too") {
  if (!test::kDevice.is_cpu()) return;
  RandomDit random;
  const auto expected = random.gradients(false);
  const BlockFakes fakes;
  for (const bool recompute : {false, true}) {
    CAPTURE(recompute);
    const auto found = random.gradients(recompute);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      // Sums in another order, divided by small ones.
      const auto size = expected[i].norm().item<double>();
      CHECK((found[i] - expected[i]).norm().item<double>() < 1e-3 * size + 1e-5);
    }
  }
  CHECK(conv_calls > 0);
}

// SPDX-License-Identifier: Apache-2.0
// Self-checks with fake CPU kernels, right and wrong ones: which are checked, and which are used.
#include "ubique/kernels/dispatch/self_check.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <torch/library.h>

#include "ubique/kernels/mixer/attention.h"
#include "ubique/kernels/mixer/fused_qkv_attention.h"
#include "ubique/kernels/mixer/gated_mlp.h"
#include "ubique/kernels/mixer/gated_mlp_stack.h"

using namespace ubique::kernels;

namespace {

enum class Fake { None, Right, Wrong, WrongGradient };
Fake fake = Fake::None;  // none in other tests
int calls = 0;

/// While alive, the CPU has fake kernels.
struct FakeKernels {
  explicit FakeKernels(Fake which) {
    fake = which;
    calls = 0;
  }
  ~FakeKernels() { fake = Fake::None; }
};

bool has_kernels() { return fake != Fake::None; }
bool of_one(const at::Tensor&) { return has_kernels(); }
bool of_sized(const at::Tensor&, std::int64_t) { return has_kernels(); }
bool of_two(const at::Tensor&, const at::Tensor&) { return has_kernels(); }
bool of_three(const at::Tensor&, const at::Tensor&, const at::Tensor&) { return has_kernels(); }

at::Tensor returned(const at::Tensor& result) {
  ++calls;
  return fake == Fake::Wrong ? result + 0.5 : result;
}

at::Tensor returned_gradient(const at::Tensor& gradient) {
  ++calls;
  return fake == Fake::WrongGradient ? gradient * 1.5 : gradient;
}

at::Tensor pack_gate(const at::Tensor& weight, bool) { return weight.clone(); }
std::tuple<at::Tensor, at::Tensor> gate(const at::Tensor& x, const at::Tensor& packed, bool keep) {
  const auto wide = at::linear(x, packed).view({x.size(0), 2, -1});
  return {returned(at::silu(wide.select(1, 0)) * wide.select(1, 1)), keep ? wide : at::Tensor()};
}

std::tuple<at::Tensor, at::Tensor> gate_back(const at::Tensor& of_sum, const at::Tensor& packed,
                                             const at::Tensor& wide) {
  const at::AutoGradMode recorded(true);
  const auto leaf = wide.to(at::kFloat).requires_grad_();
  const auto gated = at::silu(leaf.select(1, 0)) * leaf.select(1, 1);
  gated.backward(at::mm(of_sum, packed).to(at::kFloat));
  return {returned_gradient(leaf.grad().to(wide.dtype())), gated.detach().to(wide.dtype())};
}

at::Tensor pack_tokens(const at::Tensor& gate_up, const at::Tensor& down, bool) {
  return at::cat({gate_up, down.t()});  // (3I, L)
}
GatedWeights tokens_of(const at::Tensor& packed) {
  const auto inner = packed.size(0) / 3;
  return plain_weights(packed.slice(0, 0, 2 * inner), packed.slice(0, 2 * inner).t().contiguous());
}
std::tuple<at::Tensor, at::Tensor> tokens(const at::Tensor& x, const at::Tensor& packed, double) {
  const auto weights = tokens_of(packed);
  const auto wide = at::matmul(weights.gate_up.value, x.to(at::kFloat)).chunk(2, 1);
  const auto sum = x + at::matmul(weights.down.value, at::silu(wide[0]) * wide[1]);  // (B, L, H)
  const auto inverse = (sum.square().mean(1) + kNormEpsilon).rsqrt();
  return {returned((sum * inverse.unsqueeze(1)).to(x.dtype())), inverse};
}
std::tuple<at::Tensor, at::Tensor, at::Tensor> tokens_back(const at::Tensor& of_sum,
                                                           const at::Tensor& x,
                                                           const at::Tensor& packed) {
  const at::AutoGradMode recorded(true);
  const auto weights = tokens_of(packed);
  const auto leaf = x.to(at::kFloat).requires_grad_();
  auto wide = at::matmul(weights.gate_up.value, leaf);  // (B, 2I, H)
  wide.retain_grad();
  const auto halves = wide.chunk(2, 1);
  const auto gated = at::silu(halves[0]) * halves[1];
  (leaf + at::matmul(weights.down.value, gated)).backward(of_sum.to(at::kFloat));
  return {returned_gradient(leaf.grad().to(x.dtype())), wide.grad().to(x.dtype()),
          gated.detach().to(x.dtype())};
}

std::tuple<at::Tensor, at::Tensor> flash(const at::Tensor& q, const at::Tensor& k,
                                         const at::Tensor& v, bool causal) {
  const auto mixed = at::scaled_dot_product_attention(q, k, v, {}, 0, causal).transpose(1, 2);
  return {returned(mixed.flatten(2)), at::zeros({q.size(0), q.size(1), q.size(2)})};
}
std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_back(const at::Tensor& gradient,
                                                          const at::Tensor& q, const at::Tensor& k,
                                                          const at::Tensor& v, const at::Tensor&,
                                                          const at::Tensor&, bool causal) {
  const at::AutoGradMode recorded(true);
  std::vector<at::Tensor> leaves;
  for (const auto* part : {&q, &k, &v}) leaves.push_back(part->to(at::kFloat).requires_grad_());
  const auto mixed =
      at::scaled_dot_product_attention(leaves[0], leaves[1], leaves[2], {}, 0, causal);
  mixed.transpose(1, 2).flatten(2).backward(gradient.to(at::kFloat));
  return {returned_gradient(leaves[0].grad().to(q.dtype())), leaves[1].grad().to(q.dtype()),
          leaves[2].grad().to(q.dtype())};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> pack_stack(const at::Tensor& token_gate_up,
                                                          const at::Tensor& token_down,
                                                          const at::Tensor& gate_up,
                                                          const at::Tensor& down) {
  return {pack_tokens(token_gate_up, token_down, false), gate_up.clone(), down.clone()};
}
at::Tensor stack(const at::Tensor& h, const at::Tensor& injected, at::TensorList packed,
                 std::int64_t times, double) {
  auto x = h.to(at::kFloat);
  for (std::int64_t i = 0; i < times; ++i) {
    x = x + injected;
    for (std::size_t block = 0; block < packed.size(); block += 3) {
      x = token_mlp_block(x, tokens_of(packed[block]), Activations::Recompute);
      x = swiglu_block(x, plain_weights(packed[block + 1], packed[block + 2]),
                       Activations::Recompute);
    }
  }
  return returned(x.to(h.dtype()));
}

using Table = std::optional<at::Tensor>;
at::Tensor attended(const at::Tensor& qkv, std::int64_t heads, const Table& cos, const Table& sin,
                    bool causal) {
  const auto [q, k, v] =
      split_heads(qkv, heads, cos.value_or(at::Tensor()), sin.value_or(at::Tensor()));
  return at::scaled_dot_product_attention(q, k, v, {}, 0, causal)
      .transpose(1, 2)
      .reshape({qkv.size(0), qkv.size(1), -1});
}
at::Tensor attend_forward(const at::Tensor& qkv, std::int64_t heads, const Table& cos,
                          const Table& sin, bool causal) {
  return returned(attended(qkv.to(at::kFloat), heads, cos, sin, causal).to(qkv.dtype()));
}
at::Tensor attend_back(const at::Tensor& qkv, const at::Tensor& gradient, std::int64_t heads,
                       const Table& cos, const Table& sin, bool causal) {
  const at::AutoGradMode recorded(true);
  const auto leaf = qkv.to(at::kFloat).requires_grad_();
  attended(leaf * 1, heads, cos, sin, causal).backward(gradient.to(at::kFloat));
  return returned(leaf.grad().to(qkv.dtype()));
}

TORCH_LIBRARY_IMPL(ubique, CPU, library) {
  library.impl("does_channel_gate", TORCH_FN(of_one));
  library.impl("pack_channel_gate", TORCH_FN(pack_gate));
  library.impl("channel_gate", TORCH_FN(gate));
  library.impl("channel_gate_backward", TORCH_FN(gate_back));
  library.impl("does_token_mix", TORCH_FN(of_sized));
  library.impl("pack_token_mix", TORCH_FN(pack_tokens));
  library.impl("token_mix", TORCH_FN(tokens));
  library.impl("token_mix_backward", TORCH_FN(tokens_back));
  library.impl("does_flash", TORCH_FN(of_three));
  library.impl("flash", TORCH_FN(flash));
  library.impl("flash_backward", TORCH_FN(flash_back));
  library.impl("does_mix_stack", TORCH_FN(of_two));
  library.impl("pack_mix_stack", TORCH_FN(pack_stack));
  library.impl("mix_stack", TORCH_FN(stack));
  library.impl("does_attend", TORCH_FN(of_sized));
  library.impl("does_attend_backward", TORCH_FN(of_sized));
  library.impl("attend", TORCH_FN(attend_forward));
  library.impl("attend_backward", TORCH_FN(attend_back));
}

GatedWeights weights_of(std::int64_t inner, std::int64_t columns) {
  const auto like = at::zeros({1});
  return {{test_values({2 * inner, columns}, like, 5), at::kBFloat16},
          {test_values({columns, inner}, like, 6), at::kBFloat16},
          {},
          {}};
}

}  // namespace

TEST_CASE("self-check: a kernel is checked once, and used if it agrees with plain ops") {
  const auto like = at::zeros({1}), ones = at::ones({3});
  int tried = 0;
  const auto trial = [&](const at::Tensor& got) {
    return [&tried, got, ones] {
      ++tried;
      return std::vector<Trial>{{ones, ones}, {got, ones}};
    };
  };
  for (int twice = 0; twice < 2; ++twice) {
    CHECK(passes_self_check("right", like, trial(ones * 1.01)));
    CHECK(!passes_self_check("wrong", like, trial(ones * 1.1)));
    CHECK(!passes_self_check("nothing", like, trial(ones * NAN)));
    CHECK(!passes_self_check("of another shape", like, trial(at::ones({2}))));
  }
  CHECK(tried == 4);
  CHECK(passes_self_check("right", like.to(at::kHalf),
                          trial(ones)));  // another dtype is another kernel
  CHECK(tried == 5);
}

TEST_CASE("self-check: test values are reproducible and leave the random generator alone") {
  const auto like = at::zeros({1}, at::kBFloat16);
  at::manual_seed(1);
  const auto before = at::rand({3});
  at::manual_seed(1);
  const auto values = test_values({50, 40}, like, 3);
  CHECK(at::equal(at::rand({3}), before));
  CHECK((values.scalar_type() == at::kBFloat16));
  CHECK(at::equal(values, test_values({50, 40}, like, 3)));
  CHECK(!at::equal(values, test_values({50, 40}, like, 4)));
  CHECK(values.abs().max().item<double>() <= 1);
  CHECK(std::abs(values.to(at::kFloat).mean().item<double>()) < 0.05);
  CHECK(values.to(at::kFloat).square().mean().item<double>() ==
        doctest::Approx(1. / 3).epsilon(0.1));
}

TEST_CASE("self-check: wrong gated MLP kernels are not used") {
  for (const bool right : {true, false}) {
    const FakeKernels kernels(right ? Fake::Right : Fake::Wrong);
    const at::NoGradGuard no_gradients;
    auto channels = weights_of(32, right ? 24 : 40), mixing = weights_of(48, right ? 9 : 10);
    pack_for_swiglu(channels);
    CHECK(channels.packed.defined() == right);
    pack_for_token_mlp(mixing, 24);
    CHECK(mixing.packed.defined() == right);
    GatedMlpStack few;
    few.add(mixing, channels);
    CHECK(few.packed.size() == (right ? 3 : 0));
  }
}

TEST_CASE("self-check: wrong attention kernels are not used, with or without gradients") {
  for (const bool right : {true, false}) {
    for (const bool learns : {false, true}) {
      const FakeKernels kernels(right ? Fake::Right : Fake::Wrong);
      const auto length = right ? 7 : 6;
      const auto qkv = test_values({3, length, 3 * 2 * 4}, at::zeros({1}, at::kBFloat16), 1);
      const auto angles = at::rand({length, 4}) * 3;
      auto leaf = qkv.clone().requires_grad_(learns);
      const auto mixed = fused_qkv_attention(leaf, 2, angles.cos(), angles.sin(), true);
      CHECK(mixed.defined() == right);
      if (!right || !learns) continue;
      const auto gradient = test_values(mixed.sizes(), qkv, 2);
      const auto before = calls;
      mixed.backward(gradient);
      CHECK(calls == before + 1);
      CHECK(leaf.grad().defined());
    }
  }
}

TEST_CASE("self-check: a wrong backward kernel is found before training uses it") {
  const auto is_used = [](Fake which, std::int64_t columns, bool learns) {
    const FakeKernels kernels(which);
    const at::AutoGradMode recorded(learns);
    auto mixing = weights_of(48, columns), channels = weights_of(48, columns);
    pack_for_token_mlp(mixing, 24);
    pack_for_swiglu(channels);
    CHECK(mixing.packed_back.defined() == (mixing.packed.defined() && learns));
    CHECK(channels.packed.defined());  // backward is a separate kernel
    CHECK(channels.packed_back.defined() == (which == Fake::Right && learns));
    return mixing.packed.defined();
  };
  CHECK(is_used(Fake::Right, 11, true));
  CHECK(is_used(Fake::WrongGradient, 12, false));
  CHECK(!is_used(Fake::WrongGradient, 12, true));
}

TEST_CASE("self-check: many tokens use the fused backward of the gate, few use plain ops") {
  const FakeKernels kernels(Fake::Right);
  auto packed = weights_of(32, 16);
  const auto plain = plain_weights(packed.gate_up.value, packed.down.value);
  pack_for_swiglu(packed);
  REQUIRE(packed.packed_back.defined());
  for (const std::int64_t samples : {2, 1024}) {
    const auto values = test_values({samples, 4, 16}, at::zeros({1}, at::kBFloat16), 3);
    const auto gradient = test_values(values.sizes(), values, 4);
    const auto through = [&](const GatedWeights& weights, at::ScalarType dtype) {
      const auto x = values.to(dtype, false, true).requires_grad_();
      const auto y = swiglu_block(x, weights, Activations::Keep);
      const auto before = calls;
      y.backward(gradient.to(dtype));
      CHECK(calls - before == (samples > 2 && dtype == at::kBFloat16 ? 1 : 0));
      return x.grad().to(at::kFloat);
    };
    const auto expected = through(plain, at::kFloat), got = through(packed, at::kBFloat16);
    CHECK(((got - expected).norm() / expected.norm()).item<double>() < 0.02);
  }
}

TEST_CASE("self-check: flash attention is not used if forward or backward is wrong") {
  for (const auto which : {Fake::Right, Fake::Wrong, Fake::WrongGradient}) {
    const FakeKernels kernels(which);
    const auto length = 5 + static_cast<int>(which);  // each name is checked once
    auto leaf =
        test_values({2, length, 3, 2, 4}, at::zeros({1}, at::kBFloat16), 1).requires_grad_();
    const auto parts = leaf.permute({2, 0, 3, 1, 4});
    const auto mixed = attention(parts[0], parts[1], parts[2], false);
    const auto tried = calls;
    mixed.sum().backward();
    CHECK(calls - tried == (which == Fake::Right ? 1 : 0));
    CHECK(leaf.grad().isfinite().all().item<bool>());
  }
}

TEST_CASE("self-check: frozen weights pass gradients on and get none") {
  const FakeKernels kernels(Fake::Right);
  auto frozen = weights_of(48, 13);
  pack_for_token_mlp(frozen, 24);
  REQUIRE(frozen.packed_back.defined());
  const auto values = test_values({2, 13, 24}, at::zeros({1}, at::kBFloat16), 3);
  const auto gradient = test_values(values.sizes(), values, 4);
  const auto through = [&](const GatedWeights& weights, at::ScalarType dtype) {
    const auto x = values.to(dtype, false, true).requires_grad_();
    token_mlp_block(x, weights, Activations::Recompute).backward(gradient.to(dtype));
    return x.grad().to(at::kFloat);
  };
  const auto expected = through(plain_weights(frozen.gate_up.value, frozen.down.value), at::kFloat);
  const auto got = through(frozen, at::kBFloat16);
  CHECK(((got - expected).norm() / expected.norm()).item<double>() < 0.02);
  // Packed without gradients, they use plain ops in training.
  auto late = weights_of(48, 13);
  {
    const at::NoGradGuard no_gradients;
    pack_for_token_mlp(late, 24);
  }
  CHECK(!late.packed_back.defined());
  CHECK(((through(late, at::kBFloat16) - expected).norm() / expected.norm()).item<double>() < 0.02);
}

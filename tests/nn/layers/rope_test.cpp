// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: the tables, and what the rotation keeps.
#include "ubique/nn/layers/rope.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cmath>

#include "tests/tensors.h"

using namespace ubique;
using test::distance;
using test::random_tensor;

namespace {

/// One vector (size) rotated as if it stood at `position`.
at::Tensor rotated_at(const at::Tensor& vector, std::int64_t position) {
  const auto [cos, sin] = nn::rope_tables(position + 1, vector.size(0), at::kCPU);
  return nn::apply_rope(vector.view({1, 1, 1, -1}), cos.slice(0, position), sin.slice(0, position))
      .flatten();
}

}  // namespace

TEST_CASE("rope: the tables are cos and sin of position / theta^(2i/size), halves alike") {
  for (const double theta : {nn::kRopeTheta, 1e6}) {
    const std::int64_t length = 50, size = 8;
    const auto [cos, sin] = nn::rope_tables(length, size, at::kCPU, theta);
    REQUIRE((cos.sizes() == at::IntArrayRef({length, size})));
    REQUIRE((sin.sizes() == cos.sizes()));
    CHECK((cos.scalar_type() == at::kFloat));
    for (std::int64_t position = 0; position < length; position += 7) {
      for (std::int64_t i = 0; i < size; ++i) {
        const auto exponent = 2.0 * static_cast<double>(i % (size / 2)) / static_cast<double>(size);
        const auto angle = static_cast<double>(position) / std::pow(theta, exponent);
        CAPTURE(position);
        CAPTURE(i);
        CHECK(std::abs(cos[position][i].item<double>() - std::cos(angle)) < 1e-5);
        CHECK(std::abs(sin[position][i].item<double>() - std::sin(angle)) < 1e-5);
      }
    }
  }
}

TEST_CASE("rope: position 0 is left as it is, and every rotation keeps the norm") {
  const std::int64_t length = 20, size = 16;
  const auto [cos, sin] = nn::rope_tables(length, size, at::kCPU);
  const auto x = random_tensor({2, 3, length, size}, 1);
  const auto rotated = nn::apply_rope(x, cos, sin);
  CHECK(at::equal(rotated.select(2, 0), x.select(2, 0)));
  CHECK(distance(rotated.norm(2, -1), x.norm(2, -1)) < 1e-5);
  CHECK(distance(rotated, x) > 0.1);
}

TEST_CASE("rope: a query and a key depend on the distance between their positions alone") {
  const auto query = random_tensor({16}, 1), key = random_tensor({16}, 2);
  const auto score = [&](std::int64_t at_query, std::int64_t at_key) {
    return rotated_at(query, at_query).dot(rotated_at(key, at_key)).item<double>();
  };
  for (const std::int64_t apart : {0, 1, 5, 30}) {
    CAPTURE(apart);
    const auto expected = score(apart, 0);
    for (const std::int64_t shift : {1, 10, 60}) {
      CHECK(score(apart + shift, shift) == doctest::Approx(expected).epsilon(1e-4));
    }
  }
  CHECK(std::abs(score(1, 0) - score(5, 0)) > 1e-3);
}

TEST_CASE("rope: a narrow dtype is rotated in f32 and rounded once") {
  const auto [cos, sin] = nn::rope_tables(5, 8, at::kCPU);
  const auto x = random_tensor({1, 2, 5, 8}, 3).to(at::kBFloat16);
  const auto rotated = nn::apply_rope(x, cos, sin);
  CHECK((rotated.scalar_type() == at::kBFloat16));
  CHECK(at::equal(rotated, nn::apply_rope(x.to(at::kFloat), cos, sin).to(at::kBFloat16)));
}

TEST_CASE("rope: yarn keeps fast turns, divides slow ones, and mixes the pairs between") {
  // Qwen2.5's: of 64 pairs the 23rd turns 32 times within 32768 positions, the 40th once.
  nn::RopeScaling yarn{.kind = nn::RopeScaling::Kind::Yarn, .factor = 4, .original_length = 32768};
  yarn.attention_factor = nn::yarn_attention_factor(4);
  const auto plain = nn::rope_frequencies(128, 1e6), got = nn::rope_frequencies(128, 1e6, yarn);
  CHECK(at::equal(got.slice(0, 0, 24), plain.slice(0, 0, 24)));
  CHECK(distance(got.slice(0, 40) * 4 / plain.slice(0, 40), at::ones({24})) < 1e-6);
  const double slow = 7.0 / 17, mixed = plain[30].item<double>() * (slow / 4 + 1 - slow);
  CHECK(got[30].item<double>() == doctest::Approx(mixed).epsilon(1e-6));
  yarn.whole_places = false;
  CHECK(distance(nn::rope_frequencies(128, 1e6, yarn)[30], got[30]) > 0);
  CHECK(yarn.attention_factor == doctest::Approx(1.13862944));
  const auto [cos, sin] = nn::rope_tables(2, 128, at::kCPU, 1e6, yarn);
  CHECK(distance(cos[0], at::full({128}, yarn.attention_factor)) < 1e-6);
  CHECK(distance((cos[1].square() + sin[1].square()).sqrt(), cos[0]) < 1e-6);
}

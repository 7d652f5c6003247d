// SPDX-License-Identifier: Apache-2.0
// Sampling: greedy choice, frequencies, top-k, top-p, seeds, and logits that are no numbers.
#include "ubique/nn/decode/sampling.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "tests/base/scratch.h"

using namespace ubique;

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

/// How often each token is drawn at `draws` positions.
std::map<std::int32_t, int> drawn(const std::vector<float>& logits,
                                  const nn::SamplingOptions& options, int draws = 4000,
                                  std::uint64_t seed = 5) {
  const Random random(seed);
  std::map<std::int32_t, int> counts;
  for (int i = 0; i < draws; ++i) {
    ++counts[nn::sample_token(logits, options, random, static_cast<std::uint64_t>(i))];
  }
  return counts;
}

/// Logits of these probabilities.
std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const auto p : probabilities)
    logits.push_back(p > 0 ? static_cast<float>(std::log(p)) : kNever);
  return logits;
}

}  // namespace

TEST_CASE(
    "sampling: temperature 0 takes the largest logit, the first of equal ones, whatever the seed") {
  const std::vector<float> logits = {1, 3, 3, 2};
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    CHECK(drawn(logits, {.temperature = 0}, 20, seed) == std::map<std::int32_t, int>{{1, 20}});
  }
}

TEST_CASE("sampling: tokens are drawn with their probabilities") {
  const auto counts = drawn(logits_of({0.5, 0.125, 0.375}), {1, 0, 1});
  CHECK(counts.at(0) == doctest::Approx(2000).epsilon(0.06));
  CHECK(counts.at(1) == doctest::Approx(500).epsilon(0.12));
  CHECK(counts.at(2) == doctest::Approx(1500).epsilon(0.08));
}

TEST_CASE("sampling: a low temperature sharpens, a high one flattens") {
  const auto logits = logits_of({0.8, 0.2});
  CHECK(drawn(logits, {0.5, 0, 1}).at(0) == doctest::Approx(4000 * 16 / 17.0).epsilon(0.03));
  CHECK(drawn(logits, {2, 0, 1}).at(0) == doctest::Approx(4000 * 2 / 3.0).epsilon(0.05));
  CHECK(drawn(logits, {1e-300, 0, 1}).size() == 1);
}

TEST_CASE("sampling: top-k keeps the k largest logits, the first of equal ones") {
  CHECK(drawn({0, 0, 0, 0}, {1, 2, 1}).size() == 2);
  CHECK(drawn({0, 0, 0, 0}, {1, 2, 1}).count(2) == 0);
  CHECK(drawn({0, 1, 5}, {1, 1, 1}) == std::map<std::int32_t, int>{{2, 4000}});
  CHECK(drawn({0, 0}, {1, 100, 1}).size() == 2);
}

TEST_CASE("sampling: top-p keeps the fewest tokens that reach the share, at least one") {
  const auto logits = logits_of({0.1, 0.5, 0.25, 0.15});
  CHECK(drawn(logits, {1, 0, 0.5}) == std::map<std::int32_t, int>{{1, 4000}});
  const auto two = drawn(logits, {1, 0, 0.6});
  CHECK(two.size() == 2);
  CHECK(two.at(1) == doctest::Approx(4000 * 2 / 3.0).epsilon(0.05));
  CHECK(two.count(2) == 1);
  CHECK(drawn(logits, {1, 0, 1e-9}).size() == 1);
  // Of the two that top-k leaves, 0.5 of 0.75 is two thirds.
  CHECK(drawn(logits, {1, 2, 0.66}).size() == 1);
  CHECK(drawn(logits, {1, 2, 0.67}).size() == 2);
}

TEST_CASE("sampling: a seed and a position give one token, another seed another text") {
  const std::vector<float> logits(100, 0.0F);
  const nn::SamplingOptions all{1, 0, 1};
  int same = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const auto token = nn::sample_token(logits, all, Random(1), i);
    CHECK(nn::sample_token(logits, all, Random(1), i) == token);
    same += nn::sample_token(logits, all, Random(2), i) == token ? 1 : 0;
  }
  CHECK(same < 10);
}

TEST_CASE("sampling: a logit of minus infinity is never drawn; NaN and infinity are errors") {
  CHECK(drawn({kNever, 0, kNever}, {1, 0, 1}) == std::map<std::int32_t, int>{{1, 4000}});
  for (const float bad : {std::nanf(""), -kNever}) {
    const std::vector<float> logits = {0, bad};
    const auto message = test::refusal_of(
        ErrorKind::Input, [&] { (void)nn::sample_token(logits, {}, Random(1), 0); });
    CHECK(test::contains(message, "for token 1"));
  }
  const std::vector<float> none = {kNever, kNever};
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { (void)nn::sample_token(none, {}, Random(1), 0); }),
      "rules out every token"));
}

TEST_CASE("sampling: values out of range are refused by the name of their flag") {
  const auto refused = [](const nn::SamplingOptions& options) {
    return test::refusal_of(ErrorKind::Usage, [&] { nn::validate(options); });
  };
  CHECK(test::contains(refused({-0.1, 1, 1}), "--temperature"));
  CHECK(test::contains(refused({std::nan(""), 1, 1}), "--temperature"));
  CHECK(test::contains(refused({1, -1, 1}), "--top-k"));
  CHECK(test::contains(refused({1, 0, 0}), "--top-p"));
  CHECK(test::contains(refused({1, 0, 1.5}), "--top-p"));
  nn::validate(nn::SamplingOptions{0, 0, 1});
}

TEST_CASE("sampling: from the largest logits alone the same tokens are drawn") {
  std::vector<float> logits;
  for (int i = 0; i < 300; ++i) logits.push_back(static_cast<float>((i * 37) % 101) / 16);
  std::vector<nn::TokenLogit> ranked;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    ranked.push_back({static_cast<std::int32_t>(i), logits[i]});
  }
  std::ranges::sort(ranked, nn::ranks_before);
  ranked.resize(70);
  const Random random(3);
  for (const nn::SamplingOptions& options :
       {nn::SamplingOptions{0.9, 50, 1}, {1.5, 64, 0.8}, {1, 3, 1, 0.2}, {0, 50, 0.9}}) {
    for (std::uint64_t i = 0; i < 200; ++i) {
      CHECK(nn::sample_ranked(ranked, options, random, i) ==
            nn::sample_token(logits, options, random, i));
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Every micro-batch has one owner; facts and weights that differ are named.
#include "ubique/engine/ranks/shard.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/engine/ranks/rank_agreement.h"

using namespace ubique;
using engine::RankFacts;
using engine::Shard;

namespace {

template <typename Work>
std::string refusal_of_ranks(ErrorKind kind, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "accepted";
}

bool has_text(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("ranks: every micro-batch and every sample has one owner, nearly equal shares") {
  for (std::int64_t ranks = 1; ranks <= 7; ++ranks) {
    for (std::int64_t per_update = ranks; per_update <= 40; ++per_update) {
      for (const std::int64_t micro : {1, 2, 3, 5}) {
        if (Shard{0, ranks, per_update, micro}.parts() < ranks) continue;
        std::int64_t samples = 0;
        std::vector<std::int64_t> counts;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          const Shard shard{rank, ranks, per_update, micro};
          const auto [from, to] = shard.range(shard.parts());
          counts.push_back(to - from);
          for (std::int64_t part = 0; part < shard.parts(); ++part) {
            CHECK(shard.has(part) == (part >= from && part < to));
          }
          const auto [first, last] = shard.samples_of(rank);
          CHECK(first == samples);
          CHECK(first == from * micro);
          samples = last;
        }
        CHECK(samples == per_update);
        const auto [least, most] = std::ranges::minmax(counts);
        CHECK(least >= 1);
        CHECK(most - least <= 1);
      }
    }
  }
}

TEST_CASE("ranks: the short last update of an epoch keeps the owners") {
  const Shard first{0, 2, 8, 2}, second{1, 2, 8, 2};
  CHECK(first.range(3) == std::pair<std::int64_t, std::int64_t>{0, 2});
  CHECK(second.range(3) == std::pair<std::int64_t, std::int64_t>{2, 3});
  CHECK(second.range(1) == std::pair<std::int64_t, std::int64_t>{1, 1});  // none
}

TEST_CASE("ranks: the first difference between ranks is named") {
  RankFacts facts;
  facts.version = "1";
  facts.device = "cpu";
  facts.dtype = "f32";
  facts.configuration = "lr: 0.1\n";
  facts.data = "abc";
  facts.samples = 10;
  facts.micro_batch = 2;
  const auto refused = [&](const auto& change) {
    auto other = facts;
    change(other);
    return refusal_of_ranks(ErrorKind::Usage, [&] { engine::check_alike({facts, facts, other}); });
  };
  engine::check_alike({facts, facts});
  CHECK(has_text(refused([](auto& f) { f.device = "cuda"; }), "rank 2"));
  CHECK(has_text(refused([](auto& f) { f.device = "cuda"; }), "device: cpu on rank 0, cuda there"));
  CHECK(has_text(refused([](auto& f) { f.version = "2"; }), "version: 1 on rank 0, 2 there"));
  CHECK(has_text(refused([](auto& f) { f.dtype = "bf16"; }), "dtype: f32 on rank 0"));
  CHECK(has_text(refused([](auto& f) { f.configuration = "lr: 0.5\n"; }), "lr is 0.5, was 0.1"));
  CHECK(has_text(refused([](auto& f) { f.samples = 9; }), "10 on rank 0, 9 there"));
  CHECK(has_text(refused([](auto& f) { f.data = "abd"; }), "training data"));
  CHECK(has_text(refused([](auto& f) { f.micro_batch = 1; }), "micro-batch"));
  CHECK(has_text(refused([](auto& f) { f.resumes = true; }), "--resume"));
}

TEST_CASE("ranks: the ranks whose weights are not those of most are named") {
  engine::check_same_weights({"a", "a", "a"}, 7);
  engine::check_same_weights({"", ""}, 7);
  const auto named = [](const std::vector<std::string>& digests) {
    return refusal_of_ranks(ErrorKind::Device, [&] { engine::check_same_weights(digests, 7); });
  };
  CHECK(has_text(named({"b", "a", "a"}), "rank 0 differ"));
  CHECK(has_text(named({"a", "a", "b", "c"}), "rank 2, 3 differ"));
  CHECK(has_text(named({"b", "a"}), "rank 1 differ"));  // as many: rank 0 counts
  CHECK(has_text(named({"b", "a"}), "before step 8"));
}

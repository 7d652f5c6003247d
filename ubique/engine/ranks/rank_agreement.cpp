// SPDX-License-Identifier: Apache-2.0
// Facts travel as CBOR.
#include "ubique/engine/ranks/rank_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/run/run_yaml.h"

namespace ubique::engine {
namespace {

std::string cbor_text(const Json& json) {
  const auto bytes = Json::to_cbor(json);
  return {bytes.begin(), bytes.end()};
}

/// Another version may say other things: what it does not say is left empty.
RankFacts read_facts(const Json& json) {
  RankFacts facts;
  facts.version = json.value("version", facts.version);
  facts.device = json.value("device", facts.device);
  facts.dtype = json.value("dtype", facts.dtype);
  facts.shard = json.value("shard", facts.shard);
  facts.configuration = json.value("configuration", facts.configuration);
  facts.data = json.value("data", facts.data);
  facts.samples = json.value("samples", facts.samples);
  facts.micro_batch = json.value("micro_batch", facts.micro_batch);
  facts.resumes = json.value("resumes", facts.resumes);
  return facts;
}

/// In what the second differs from the first; empty if in nothing.
std::string difference(const RankFacts& first, const RankFacts& other) {
  const auto two = [](const char* what, const auto& a, const auto& b) {
    return fmt::format("{}: {} on rank 0, {} there", what, a, b);
  };
  if (first.version != other.version) return two("version", first.version, other.version);
  if (first.device != other.device) return two("device", first.device, other.device);
  if (first.dtype != other.dtype) return two("dtype", first.dtype, other.dtype);
  const auto changed = changed_settings(first.configuration, other.configuration);
  if (!changed.empty()) {
    return fmt::format("settings: there {} on rank 0", join(changed, "; "));
  }
  if (first.samples != other.samples) {
    return two("samples of an epoch", first.samples, other.samples);
  }
  if (first.data != other.data) return two("training data (digest)", first.data, other.data);
  if (first.micro_batch != other.micro_batch) {
    return two("micro-batch", first.micro_batch, other.micro_batch);
  }
  if (first.shard != other.shard) {
    return two("what is split, by each one's free memory (--shard says it)", first.shard,
               other.shard);
  }
  if (first.resumes != other.resumes) return two("--resume", first.resumes, other.resumes);
  return {};
}

}  // namespace

std::vector<RankFacts> gather_facts(const dist::World& world, const RankFacts& mine) {
  const Json json = {{"version", mine.version},
                     {"device", mine.device},
                     {"dtype", mine.dtype},
                     {"shard", mine.shard},
                     {"configuration", mine.configuration},
                     {"data", mine.data},
                     {"samples", mine.samples},
                     {"micro_batch", mine.micro_batch},
                     {"resumes", mine.resumes}};
  std::vector<RankFacts> all;
  for (const auto& text : world.gather(cbor_text(json))) {
    all.push_back(read_facts(Json::from_cbor(text)));
  }
  return all;
}

void check_alike(const std::vector<RankFacts>& ranks) {
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const auto differs = difference(ranks.front(), ranks[i]);
    check(differs.empty(), ErrorKind::Usage,
          "[engine.ranks] rank {} does not train the same as rank 0; got another {}. Start all "
          "ranks with the same program, settings and data.",
          i, differs);
  }
}

void check_same_weights(const std::vector<std::string>& digests, std::int64_t step) {
  std::map<std::string, int> counts;
  for (const auto& digest : digests) ++counts[digest];
  if (counts.size() < 2) return;
  // Of equally frequent ones, rank 0's.
  auto usual = digests.front();
  for (const auto& [digest, count] : counts) {
    if (count > counts[usual]) usual = digest;
  }
  std::vector<std::string> others;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (digests[i] != usual) others.push_back(std::to_string(i));
  }
  fail(ErrorKind::Device,
       "[engine.ranks] the weights of rank {} differ from those of the other ranks before step {}; "
       "expected the same bits everywhere. A rank that computes wrongly, or other weights with "
       "--model there? Start again with --resume, without that machine.",
       join(others, ", "), step + 1);
}

Scores scores_from_first(const dist::World& world, const Scores& mine) {
  Json json = Json::array();
  for (const auto& [name, value] : mine) json.push_back({name, value});
  Scores scores;
  for (const auto& item : Json::from_cbor(world.from_first(cbor_text(json)))) {
    scores.emplace_back(item[0].get<std::string>(), item[1].get<double>());
  }
  return scores;
}

}  // namespace ubique::engine

// SPDX-License-Identifier: Apache-2.0
// Builds sets of ARC tasks and variants. Unlike augmented sudokus, variants are stored in the set:
// each has its own puzzle id, and with it a row of the network's embedding table.
#include "ubique/data/puzzles/arc/arc_build.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"

namespace ubique::data {
namespace {

using Tokens = std::vector<std::int32_t>;

constexpr std::int64_t kArcTriesPerVariant = 5;

std::uint64_t text_hash(const std::string& text) { return xxh64(std::as_bytes(std::span(text))); }

/// A hash of the task's grids, independent of the order of its pairs.
std::uint64_t variant_hash(const ArcTask& task, const ArcVariant& variant) {
  std::vector<std::uint64_t> pairs;
  for (const auto* part : {&task.train, &task.test}) {
    for (const auto& pair : *part) {
      pairs.push_back(text_hash(apply_variant(variant, pair.input).key() +
                                apply_variant(variant, pair.output).key()));
    }
  }
  std::sort(pairs.begin(), pairs.end());
  return xxh64(std::as_bytes(std::span(pairs)));
}

/// The task itself first, then variants whose grids all differ.
std::vector<ArcVariant> variants_of(const ArcTask& task, const ArcBuild& options) {
  const auto random = Random(options.seed).fork(text_hash(task.name));
  std::vector<ArcVariant> variants{{}};
  std::unordered_set<std::uint64_t> seen{variant_hash(task, {})};
  const auto wanted = static_cast<std::size_t>(options.augment) + 1;
  for (std::int64_t i = 0; i < kArcTriesPerVariant * options.augment; ++i) {
    if (variants.size() == wanted) break;
    const auto variant = random_variant(random.fork(static_cast<std::uint64_t>(i)));
    if (seen.insert(variant_hash(task, variant)).second) variants.push_back(variant);
  }
  return variants;
}

class ArcBuilder {
 public:
  explicit ArcBuilder(const ArcBuild& options) : options_(options) {
    data_.identifiers.assign(static_cast<std::size_t>(options.first_id), "<blank>");
    data_.splits = {empty_puzzle_set(arc_metadata()), empty_puzzle_set(arc_metadata())};
  }

  /// `tested`: its test pairs go into the test set, not into the training set.
  void add(const ArcTask& task, bool tested) {
    const auto variants = variants_of(task, options_);
    if (static_cast<std::int64_t>(variants.size()) <= options_.augment) {
      data_.incomplete.push_back(task.name);
    }
    std::vector<ArcPair> shown = task.train;
    if (!std::ranges::all_of(task.test, &ArcPair::known)) data_.unanswered.push_back(task.name);
    if (!tested) std::ranges::copy_if(task.test, std::back_inserter(shown), &ArcPair::known);
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const auto name = i == 0 ? task.name : variant_name(task.name, variants[i]);
      const auto id = id_of(name);
      add_puzzle(data_.splits.train, shown, variants[i], id, true);
      if (tested) add_puzzle(data_.splits.test, task.test, variants[i], id, false);
    }
    end_group(data_.splits.train);
    if (!tested) return;
    end_group(data_.splits.test);
    data_.tests.push_back(task);
  }

  ArcData finish(const Json& provenance) {
    for (auto* set : {&data_.splits.train, &data_.splits.test}) {
      set->metadata.num_puzzle_identifiers = static_cast<std::int64_t>(data_.identifiers.size());
      set->metadata.provenance = provenance;
    }
    return std::move(data_);
  }

 private:
  /// The same name always gets the same id.
  std::int32_t id_of(const std::string& name) {
    const auto [found, fresh] = ids_.emplace(name, data_.identifiers.size());
    if (fresh) data_.identifiers.push_back(name);
    return static_cast<std::int32_t>(found->second);
  }

  void add_puzzle(PuzzleSet& set, const std::vector<ArcPair>& pairs, const ArcVariant& variant,
                  std::int32_t id, bool shifted) {
    const auto random = Random(options_.seed, 1).fork(static_cast<std::uint64_t>(set.puzzles()));
    const auto unshifted = random.below(0, pairs.size());  // stays in the upper left corner
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto input = apply_variant(variant, pairs[i].input);
      const auto output = apply_variant(variant, pairs[i].output);
      std::size_t row = 0, col = 0;
      if (shifted && i != unshifted) {
        const auto rows = std::max(input.size.rows, output.size.rows);
        const auto cols = std::max(input.size.cols, output.size.cols);
        row = random.below(1 + 2 * i, kArcSide - rows + 1);
        col = random.below(2 + 2 * i, kArcSide - cols + 1);
      }
      // An unknown answer is neither trained on nor scored: all labels are ignored.
      const auto answer =
          pairs[i].known ? arc_tokens(output, row, col) : Tokens(kArcSide * kArcSide);
      add_example(set, arc_tokens(input, row, col), answer);
    }
    end_puzzle(set, id);
  }

  ArcBuild options_;
  ArcData data_;
  std::map<std::string, std::size_t> ids_;
};

/// Test tasks must not be among the training tasks.
void check_disjoint(const std::vector<ArcTask>& learn, const std::vector<ArcTask>& test) {
  std::unordered_set<std::string> names;
  for (const auto& task : learn) names.insert(task.name);
  for (const auto& task : test) {
    check(!names.contains(task.name), ErrorKind::Usage,
          "[data.arc] task {} is both to learn from and to test with; expected it once, as its "
          "answer would be learned.",
          task.name);
  }
}

}  // namespace

Json build_provenance(const ArcBuild& options, std::size_t learn, std::size_t test) {
  auto json = arc_metadata().provenance;
  json["augment"] = options.augment;
  json["seed"] = options.seed;
  json["first_id"] = options.first_id;
  json["tasks"] = {{"learn", learn}, {"test", test}};
  json["version"] = 2;  // incremented when the same options give other variants
  return json;
}

ArcData build_arc(const std::vector<ArcTask>& learn, const std::vector<ArcTask>& test,
                  const ArcBuild& options, const PuzzleProgress& progress) {
  check(options.augment >= 0 && options.augment <= 1'000'000 && options.first_id >= 1 &&
            options.first_id <= 1'000'000'000,
        ErrorKind::Usage,
        "[data.arc] got {} variants and first id {}; expected 0 to 1,000,000 and 1 to 10^9.",
        options.augment, options.first_id);
  check(!learn.empty() || !test.empty(), ErrorKind::Usage, "[data.arc] no tasks were given.");
  check_disjoint(learn, test);
  ArcBuilder builder(options);
  std::int64_t done = 0;
  for (const auto* tasks : {&learn, &test}) {
    for (const auto& task : *tasks) {
      builder.add(task, tasks == &test);
      if (progress) progress(++done);
    }
  }
  return builder.finish(build_provenance(options, learn.size(), test.size()));
}

}  // namespace ubique::data

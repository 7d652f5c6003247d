// SPDX-License-Identifier: Apache-2.0
// NumPy's generators and the original's batches, against recorded ones.
#include "ubique/data/puzzles/use/puzzle_sampler.h"

#include <numeric>

#include "tests/base/scratch.h"
#include "tests/shared.h"
#include "ubique/base/files/file.h"
#include "ubique/data/puzzles/use/puzzle_augment.h"

using namespace ubique;
using Words = std::vector<std::int32_t>;
using Indices = std::vector<std::int64_t>;

namespace {

Json sampler_golden() {
  const auto folder = test::shared_folder("golden/trm");
  if (folder.empty()) return {};
  return parse_json(read_file(folder / "sampler.json"), "sampler.json");
}

void check_batch(const data::PuzzleSet& set, const Indices& examples, const Json& golden) {
  Words ids;
  Indices input_sums, label_sums;
  for (const auto example : examples) {
    Words inputs(static_cast<std::size_t>(set.metadata.seq_len)), labels(inputs.size());
    ids.push_back(data::load_example(set, example, inputs, labels));
    if (ids.size() == 1) {
      CHECK(inputs == golden["first_row_inputs"].get<Words>());
      CHECK(labels == golden["first_row_labels"].get<Words>());
    }
    input_sums.push_back(std::accumulate(inputs.begin(), inputs.end(), std::int64_t{0}));
    label_sums.push_back(std::accumulate(labels.begin(), labels.end(), std::int64_t{0}));
  }
  CHECK(ids == golden["puzzle_identifiers"].get<Words>());
  CHECK(input_sums == golden["inputs_row_sums"].get<Indices>());
  CHECK(label_sums == golden["labels_row_sums"].get<Indices>());
}

/// This rank's slice.
Indices slice(const Indices& all, const Json& run) {
  const auto rows =
      static_cast<std::ptrdiff_t>(all.size()) / run["num_replicas"].get<std::ptrdiff_t>();
  const auto first = all.begin() + rows * run["rank"].get<std::ptrdiff_t>();
  return {first, first + rows};
}

void check_training(const data::PuzzleSet& set, const Json& run) {
  const data::PuzzleSamplerOptions options{
      .seed = run["seed"].get<std::uint64_t>(),
      .global_batch = run["global_batch_size"].get<std::int64_t>(),
      .epochs = run["epochs_per_iter"].get<std::int64_t>()};
  data::NumpyTwister choices(run["numpy_legacy_seed_before_iteration"].get<std::uint32_t>());
  std::optional<data::PuzzleIteration> iteration;
  std::int64_t number = 0;
  for (const auto& golden : run["batches"]) {
    if (golden["iteration"] != number) {
      if (iteration) {
        CHECK_FALSE(iteration->next());  // the remainder is dropped, after it was drawn
        choices = iteration->choices();
      }
      iteration.emplace(set, options, ++number, choices);
    }
    const auto choice = iteration->next();
    REQUIRE(choice);
    CHECK(choice->examples == golden["global_example_indices"].get<Indices>());
    CHECK(choice->puzzles == golden["global_puzzle_indices"].get<Indices>());
    CHECK(iteration->position() == golden["next_group_position"].get<std::int64_t>());
    check_batch(set, slice(choice->examples, run), golden);
  }
}

data::PuzzleSet small_set() {
  data::PuzzleMetadata metadata;
  metadata.vocab_size = 100;
  metadata.seq_len = 1;
  auto set = data::empty_puzzle_set(metadata);
  for (std::int32_t group = 0; group < 7; ++group) {
    for (std::int32_t example = 0; example <= group % 3; ++example) {
      const Words row{group * 10 + example + 1};
      data::add_example(set, row, row);
    }
    data::end_puzzle(set, 0);
    data::end_group(set);
  }
  return set;
}

}  // namespace

TEST_CASE("numpy: Philox gives NumPy's words, permutations and numbers") {
  const auto golden = sampler_golden();
  if (golden.is_null()) return;
  for (const auto& [seed, entry] : golden["philox"].items()) {
    CAPTURE(seed);
    data::NumpyPhilox raw(std::stoull(seed));
    CHECK(std::to_string(raw.key()[0]) == entry["key"][0].get<std::string>());
    CHECK(std::to_string(raw.key()[1]) == entry["key"][1].get<std::string>());
    for (const auto& word : entry["raw_u64"])
      CHECK(std::to_string(raw.next64()) == word.get<std::string>());
    data::NumpyPhilox fresh(std::stoull(seed));
    const auto& then = entry["then_fresh"];
    const auto n = then["permutation_n"].get<std::int32_t>();
    CHECK(fresh.permutation(n) == then["permutation_1"].get<Words>());
    CHECK(fresh.permutation(n) == then["permutation_2"].get<Words>());
    std::int64_t k = 0;
    for (const auto& value : then["integers_low_4k_high_4k_plus_4_k0to5"]) {
      CHECK(fresh.integers(4 * k, 4 * k + 4) == value.get<std::int64_t>());
      ++k;
    }
  }
}

TEST_CASE("numpy: RandomState chooses as NumPy's does") {
  const auto golden = sampler_golden();
  if (golden.is_null()) return;
  data::NumpyTwister twister(golden["mt19937"]["seed"].get<std::uint32_t>());
  for (const auto& entry : golden["mt19937"]["choices"]) {
    CHECK(twister.choice(entry["n"].get<std::int64_t>(), entry["k"].get<std::int64_t>()) ==
          entry["result"].get<Indices>());
  }
}

TEST_CASE("numpy: Philox begins as NumPy's does, without any golden file") {
  data::NumpyPhilox random(1);
  CHECK(random.next64() == 1232279569898196538ULL);
  data::NumpyPhilox fresh(1);
  CHECK(fresh.permutation(13) == Words{12, 2, 1, 6, 3, 0, 8, 4, 9, 7, 5, 11, 10});
  CHECK(fresh.permutation(1) == Words{0});
  CHECK(fresh.integers(5, 6) == 5);
}

TEST_CASE("puzzle sampler: batches are the original's") {
  const auto folder = test::shared_folder("golden/trm");
  if (folder.empty()) return;
  int runs = 0;
  const auto golden = sampler_golden();
  for (const auto& run : golden["runs"]) {
    CAPTURE(run["name"].get<std::string>());
    const auto set = data::read_puzzle_set(folder / run["dataset"].get<std::string>(),
                                           run["split"].get<std::string>());
    if (run["test_set_mode"].get<bool>()) continue;  // in order: no random choice
    check_training(set, run);
    ++runs;
  }
  CHECK(runs >= 4);
}

TEST_CASE("puzzle sampler: every group comes once an epoch, and an iteration can be made again") {
  const auto set = small_set();
  const data::PuzzleSamplerOptions options{.seed = 3, .global_batch = 4, .epochs = 3};
  data::PuzzleIteration iteration(set, options, 2);
  std::vector<Indices> batches;
  while (const auto choice = iteration.next()) {
    CHECK(choice->examples.size() == 4);
    batches.push_back(choice->examples);
  }
  CHECK(iteration.position() == 21);
  CHECK(batches.size() >= 8);
  data::PuzzleIteration again(set, options, 2);
  for (const auto& batch : batches) CHECK(again.next()->examples == batch);
  CHECK(data::PuzzleIteration(set, options, 3).next()->examples != batches[0]);
}

TEST_CASE("puzzle sampler: wrong options are refused") {
  const auto set = small_set();
  const auto refused = [&](std::int64_t size, std::int64_t epochs) {
    return test::refusal_of(ErrorKind::Usage, [&] {
      data::PuzzleIteration(set, {.seed = 0, .global_batch = size, .epochs = epochs}, 1);
    });
  };
  CHECK(test::contains(refused(0, 1), "batches of 0"));
  CHECK(test::contains(refused(4, 0), "0 epochs"));
}

TEST_CASE("puzzle sampler: updates are counted as the original counts them") {
  data::PuzzleMetadata metadata;
  metadata.total_groups = 1000;
  CHECK(data::planned_updates(metadata, 50000, 768) == 65104);
}

// SPDX-License-Identifier: Apache-2.0
#include "ubique/data/puzzles/puzzle_sampler.h"

#include <numeric>

#include "tests/base/scratch.h"
#include "tests/shared.h"
#include "ubique/base/file.h"

using namespace ubique;
using Words = std::vector<std::int32_t>;
using Indices = std::vector<std::int64_t>;

namespace {

Json sampler_golden() {
  const auto folder = test::shared_folder("golden/trm");
  if (folder.empty()) return {};
  return parse_json(read_file(folder / "sampler.json"), "sampler.json");
}

void check_batch(const data::PuzzleBatch& batch, const Json& golden) {
  CHECK(batch.puzzle_identifiers == golden["puzzle_identifiers"].get<Words>());
  const auto length = batch.length;
  Indices inputs, labels;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    inputs.push_back(std::accumulate(batch.inputs.begin() + row * length,
                                     batch.inputs.begin() + (row + 1) * length, std::int64_t{0}));
    labels.push_back(std::accumulate(batch.labels.begin() + row * length,
                                     batch.labels.begin() + (row + 1) * length, std::int64_t{0}));
  }
  CHECK(inputs == golden["inputs_row_sums"].get<Indices>());
  CHECK(labels == golden["labels_row_sums"].get<Indices>());
  CHECK(Words(batch.inputs.begin(), batch.inputs.begin() + length) ==
        golden["first_row_inputs"].get<Words>());
  CHECK(Words(batch.labels.begin(), batch.labels.begin() + length) ==
        golden["first_row_labels"].get<Words>());
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
        CHECK_FALSE(iteration->next());  // the rest is dropped, but it was drawn
        choices = iteration->choices();
      }
      iteration.emplace(set, options, ++number, choices);
    }
    const auto choice = iteration->next();
    REQUIRE(choice);
    CHECK(choice->examples == golden["global_example_indices"].get<Indices>());
    CHECK(choice->puzzles == golden["global_puzzle_indices"].get<Indices>());
    CHECK(iteration->position() == golden["next_group_position"].get<std::int64_t>());
    const auto examples = slice(choice->examples, run);
    check_batch(data::collate(set, examples, static_cast<std::int64_t>(examples.size())), golden);
  }
}

void check_evaluation(const data::PuzzleSet& set, const Json& run) {
  for (const auto& golden : run["batches"]) {
    const auto batch = data::evaluation_batch(
        set, golden["batch"].get<std::int64_t>(), run["global_batch_size"].get<std::int64_t>(),
        run["rank"].get<std::int64_t>(), run["num_replicas"].get<std::int64_t>());
    check_batch(batch, golden);
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

TEST_CASE("numpy: the old generator chooses as NumPy's does") {
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
    run["test_set_mode"].get<bool>() ? check_evaluation(set, run) : check_training(set, run);
    ++runs;
  }
  CHECK(runs == 6);
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

TEST_CASE("puzzle sampler: short evaluation batches are padded, wrong options are refused") {
  const auto set = small_set();
  const auto batch = data::evaluation_batch(set, 2, 5);
  CHECK(set.examples() == 13);
  CHECK(batch.effective == 3);
  CHECK(batch.inputs[3] == 0);
  CHECK(batch.labels[3] == data::kIgnoredLabel);
  const auto refused = [&](std::int64_t size, std::int64_t epochs) {
    return test::refusal_of(ErrorKind::Usage, [&] {
      data::PuzzleIteration(set, {.seed = 0, .global_batch = size, .epochs = epochs}, 1);
    });
  };
  CHECK(test::contains(refused(0, 1), "batches of 0"));
  CHECK(test::contains(refused(4, 0), "0 epochs"));
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage, [&] { data::evaluation_batch(set, 0, 5, 0, 2); }),
      "cannot be divided by 2 processes"));
}

TEST_CASE("puzzle sampler: updates are counted as the original counts them") {
  data::PuzzleMetadata metadata;
  metadata.total_groups = 1000;
  CHECK(data::planned_updates(metadata, 50000, 768) == 65104);
}

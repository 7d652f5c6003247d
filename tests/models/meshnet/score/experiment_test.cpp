// SPDX-License-Identifier: Apache-2.0
// Pooling of restarts, run records and comparisons.
#include "ubique/models/meshnet/score/experiment.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"

namespace ubique::meshnet {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

RunRecord record(std::int64_t fold, std::int64_t restart, std::vector<std::string> ids,
                 std::vector<double> dice, std::vector<double> avd) {
  RunRecord run;
  run.outer_fold = fold;
  run.restart = restart;
  run.seed = 42 + static_cast<std::uint64_t>(restart);
  run.subject_ids = std::move(ids);
  run.subject_indices.assign(run.subject_ids.size(), 0);
  run.scores = {{"dice", std::move(dice)}, {"avd", std::move(avd)}};
  return run;
}

std::vector<RunRecord> two_folds() {
  return {record(0, 0, {"a", "b"}, {0.2, 0.8}, {0.5, 0.1}),
          record(0, 1, {"a", "b"}, {0.6, 0.9}, {kInf, 0.3}), record(1, 0, {"c"}, {0.5}, {0.2})};
}

}  // namespace

TEST_CASE("experiment: restarts are pooled per subject first") {
  const auto mean = pool_subjects(two_folds(), "dice", RestartPolicy::Mean);
  CHECK(mean.at("a") == doctest::Approx(0.4));
  CHECK(mean.at("b") == doctest::Approx(0.85));
  CHECK(mean.at("c") == doctest::Approx(0.5));
  const auto best = pool_subjects(two_folds(), "dice", RestartPolicy::Best);
  CHECK(best.at("a") == doctest::Approx(0.6));
  const auto least_error = pool_subjects(two_folds(), "avd", RestartPolicy::Best);
  CHECK(least_error.at("b") == doctest::Approx(0.1));
}

TEST_CASE("experiment: an infinite volume difference is left out of a mean") {
  CHECK(pool_subjects(two_folds(), "avd", RestartPolicy::Mean).at("a") == doctest::Approx(0.5));
}

TEST_CASE("experiment: a run record is read back from its file, infinity included") {
  const test::ScratchFolder folder;
  const auto path = folder.path() / "results.json";
  auto written = two_folds()[1];
  written.split_seed = 7;
  write_file(path, to_json(written).dump());
  const auto read = read_run_record(path);
  CHECK(read.scores == written.scores);
  CHECK(read.subject_ids == written.subject_ids);
  CHECK(read.restart == 1);
  CHECK(read.split_seed == 7);
}

TEST_CASE("experiment: a file that is no run record is refused by name") {
  const test::ScratchFolder folder;
  const auto path = folder.path() / "results.json";
  write_file(path, R"({"outer_fold": 0})");
  const auto message = test::refusal_of(ErrorKind::Input, [&] { read_run_record(path); });
  CHECK(test::contains(message, "results.json"));
  write_file(path, R"({"outer_fold": 0, "restart": 0, "seed": 1, "final_train_loss": 0.1,
    "subject_ids": ["a", "b"], "subject_indices": [0, 1], "per_subject_dice": [0.5]})");
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { read_run_record(path); }),
                       "per_subject_dice"));
}

TEST_CASE("experiment: a clear improvement is found, corrected for two scores") {
  std::vector<RunRecord> ours(1), theirs(1);
  for (int i = 0; i < 12; ++i) {
    const auto id = "s" + std::to_string(i);
    ours[0].subject_ids.push_back(id);
    theirs[0].subject_ids.push_back(id);
    ours[0].scores["dice"].push_back(0.7 + 0.01 * i);
    theirs[0].scores["dice"].push_back(0.6 + 0.011 * i);
    ours[0].scores["mcc"].push_back(i % 2 == 0 ? 0.5 : 0.6);
    theirs[0].scores["mcc"].push_back(i % 2 == 0 ? 0.6 + 0.001 * i : 0.5 - 0.001 * i);
  }
  const auto rows = compare_experiments(experiment_json(ours, RestartPolicy::Mean, {}),
                                        experiment_json(theirs, RestartPolicy::Mean, {}));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].score == "dice");
  CHECK(rows[0].p == doctest::Approx(2.0 / 4096));  // all twelve differences of one sign
  CHECK(rows[0].p_holm == doctest::Approx(4.0 / 4096));
  CHECK(rows[0].difference > 0.08);
  CHECK(rows[1].p > 0.3);
}

}  // namespace ubique::meshnet

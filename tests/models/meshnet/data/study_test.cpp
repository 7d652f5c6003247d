// SPDX-License-Identifier: Apache-2.0
// Studies of any size: opened without folds, split into them by a seed, and with bad scans in them.
#include "ubique/models/meshnet/data/study.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/base/scratch.h"
#include "tests/data/scans/grids.h"
#include "ubique/base/files/file.h"
#include "ubique/data/scans/study/splits_file.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;

/// images/ and masks/ of scans named s0, s1 ..., with lesions of 56, 112 ... voxels.
class StudyFolder {
 public:
  explicit StudyFolder(int scans) {
    fs::create_directories(folder_ / "images");
    fs::create_directories(folder_ / "masks");
    const auto affine = test::straight({1, 1, 1});
    for (int s = 0; s < scans; ++s) {
      data::write_volume(image(s), test::noise({6, 7, 8}, affine), {});
      const auto lesion = [s](auto i, auto, auto) { return i <= s % 5; };
      data::write_labels(mask(s), test::grid_of<std::uint8_t>({6, 7, 8}, affine, lesion), {});
    }
  }

  fs::path image(int s) const { return folder_ / "images" / fmt::format("s{}.nii.gz", s); }
  fs::path mask(int s) const { return folder_ / "masks" / fmt::format("s{}.nii.gz", s); }
  fs::path operator/(const std::string& name) const { return folder_ / name; }

  StudySettings settings(int outer = 3, int inner = 3) const {
    StudySettings settings;
    settings.folder = folder_.path();
    settings.outer_folds = outer;
    settings.inner_folds = inner;
    return settings;
  }

 private:
  test::ScratchFolder folder_;
};

std::string folds_refusal(ErrorKind kind, const StudySettings& settings) {
  return test::refusal_of(kind, [&] { open_study(settings, StudyUse::Folds); });
}

std::string validation_refusal(const StudySettings& settings) {
  const auto study = open_study(settings, StudyUse::Folds);
  CHECK(study.splits.inner_count() == 0);
  return test::refusal_of(ErrorKind::Usage, [&] { inner_fold(study, settings); });
}

/// Every scan is tested once, and no fold trains on what it validates or tests with.
void check_validated_folds(const StudySettings& settings, std::size_t scans) {
  const auto study = open_study(settings, StudyUse::Folds);
  std::multiset<std::int64_t> tested;
  auto fold_settings = settings;
  for (std::size_t f = 0; f < study.splits.outer.size(); ++f) {
    const auto& test = study.splits.outer[f].test;
    tested.insert(test.begin(), test.end());
    fold_settings.outer_fold = static_cast<std::int64_t>(f);
    const auto [train, val] = inner_fold(study, fold_settings);
    CHECK_FALSE(train.empty());
    CHECK_FALSE(val.empty());
    std::set<std::int64_t> all(train.begin(), train.end());
    all.insert(val.begin(), val.end());
    all.insert(test.begin(), test.end());
    CHECK(all.size() == scans);
  }
  CHECK(tested.size() == scans);
  CHECK(std::set(tested.begin(), tested.end()).size() == scans);
}

bool same_folds(const data::Splits& a, const data::Splits& b) {
  if (a.outer.size() != b.outer.size() || a.inner_count() != b.inner_count()) return false;
  for (std::size_t f = 0; f < a.outer.size(); ++f) {
    if (a.outer[f].test != b.outer[f].test) return false;
    for (std::size_t i = 0; i < a.inner_count(); ++i) {
      const auto &one = a.outer[f].inner[i], &other = b.outer[f].inner[i];
      if (one.train != other.train || one.val != other.val) return false;
    }
  }
  return true;
}

StudySettings settings_of(const std::string& yaml, const std::string& seed_key = "split_seed") {
  auto config = Config::from_text("data: x\n" + yaml, "test.yaml");
  config.set_environment({});
  return read_study_settings(config, seed_key);
}

}  // namespace

TEST_CASE("study: one to five scans are opened where no folds are needed") {
  for (int scans = 1; scans <= 5; ++scans) {
    const StudyFolder folder(scans);
    const auto study = open_study(folder.settings(), StudyUse::Scans);
    CHECK(std::cmp_equal(study.cohort.subjects.size(), scans));
    CHECK(study.size_bins == std::vector<std::string>(static_cast<std::size_t>(scans), "Q1"));
    CHECK(study.splits.outer.empty());
  }
}

TEST_CASE("study: folds of one and two scans are refused with what is needed") {
  const StudyFolder one(1), two(2);
  CHECK(test::contains(folds_refusal(ErrorKind::Input, one.settings()),
                       "got 1, expected at least 2"));
  CHECK(test::contains(folds_refusal(ErrorKind::Usage, two.settings()),
                       "2 scans cannot be divided into 3 folds; expected at least 3 scans. Hold "
                       "out one at a time: --outer-folds 2 --all-train."));
  const auto study = open_study(two.settings(2), StudyUse::Folds);
  CHECK(study.splits.outer.size() == 2);
  CHECK(study.splits.train_of(0).size() == 1);
  CHECK(study.splits.train_of(0) == study.splits.outer[1].test);
  CHECK(validation_refusal(two.settings(2)).ends_with("(--all-train)."));
}

TEST_CASE("study: three and four scans have outer folds, and inner ones that leave one out") {
  const StudyFolder three(3), four(4);
  CHECK(test::contains(validation_refusal(three.settings()),
                       "got 2 beside the test fold, expected at least 3"));
  CHECK(test::contains(validation_refusal(three.settings()), "--outer-folds 3 --inner-folds 2"));
  CHECK(test::contains(validation_refusal(four.settings()), "--outer-folds 4 --inner-folds 3"));
  check_validated_folds(three.settings(3, 2), 3);
  check_validated_folds(four.settings(4, 3), 4);
  check_validated_folds(StudyFolder(5).settings(), 5);
}

TEST_CASE("study: without inner folds a person asked for no validation") {
  const StudyFolder folder(4);
  const auto settings = folder.settings(3, 0);
  const auto fold = inner_fold(open_study(settings, StudyUse::Folds), settings);
  CHECK(fold.val.empty());
  CHECK(fold.train.size() >= 2);
  CHECK(test::contains(folds_refusal(ErrorKind::Usage, folder.settings(1)), "got 1 outer"));
  CHECK(test::contains(folds_refusal(ErrorKind::Usage, folder.settings(0)), "got 0 outer"));
  CHECK(test::contains(folds_refusal(ErrorKind::Usage, folder.settings(3, 1)), "1 inner"));
}

TEST_CASE("study: the seed draws the folds, and without one they are arc-meshchop's") {
  const StudyFolder folder(12);
  auto settings = folder.settings();
  const auto usual = open_study(settings, StudyUse::Folds).splits;
  CHECK(usual.seed == 42);
  CHECK(same_folds(usual, data::nested_folds(usual.labels)));
  settings.split_seed = 42;
  CHECK(same_folds(usual, open_study(settings, StudyUse::Folds).splits));
  settings.split_seed = 7;
  const auto other = open_study(settings, StudyUse::Folds).splits;
  CHECK(other.seed == 7);
  CHECK(split_seed(settings) == 7);
  CHECK_FALSE(same_folds(usual, other));
  CHECK(same_folds(other, data::nested_folds(other.labels, 3, 3, 7)));

  // A file keeps its seed; asking for another one with it is a contradiction.
  data::write_splits(folder / "splits.json", other);
  settings.splits = folder / "splits.json";
  CHECK(same_folds(other, open_study(settings, StudyUse::Folds).splits));
  settings.split_seed.reset();
  CHECK(open_study(settings, StudyUse::Folds).splits.seed == 7);
  CHECK(split_seed(settings) == 7);
  settings.split_seed = 42;
  CHECK(test::contains(folds_refusal(ErrorKind::Usage, settings), "got 7, expected 42"));
}

TEST_CASE("study: in training the seed of the folds has a name of its own") {
  CHECK_FALSE(settings_of("seed: 3\n").split_seed.has_value());
  CHECK(settings_of("seed: 3\nsplit_seed: 7\n").split_seed == 7);
  CHECK(settings_of("seed: 3\n", "seed").split_seed == 3);
  CHECK(settings_of("split_seed: 4294967295\n").split_seed == 4294967295U);
  for (const auto* wrong : {"split_seed: -1\n", "split_seed: 4294967296\n"}) {
    CHECK(test::contains(test::refusal_of(ErrorKind::Usage, [&] { settings_of(wrong); }),
                         "split_seed is out of range"));
  }
}

TEST_CASE("study: a bad and a missing mask stop folds, but not work scan by scan") {
  const StudyFolder folder(9);
  write_file(folder.mask(2), "no scan");
  CHECK(test::contains(folds_refusal(ErrorKind::Input, folder.settings()),
                       "1 of 9 scans cannot be used: s2"));
  fs::remove(folder.mask(4));
  CHECK(test::contains(folds_refusal(ErrorKind::Input, folder.settings()), "have no mask: s4"));
  const auto study = open_study(folder.settings(), StudyUse::Scans);
  REQUIRE(study.cohort.subjects.size() == 9);
  for (std::size_t s = 0; s < 9; ++s) CHECK(study.size_bins[s] == (s == 2 || s == 4 ? "" : "Q1"));
}

TEST_CASE("study: where no scan has a mask, that is said once") {
  const StudyFolder folder(3);
  for (int s = 0; s < 3; ++s) fs::remove(folder.mask(s));
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { open_study(folder.settings(), StudyUse::Scans); }),
      "3 of 3 subjects"));
}

TEST_CASE("study: unusable scans are named at the end of a command") {
  CHECK(unusable_text({}).empty());
  CHECK(unusable_text({{"a", "x"}, {"b", "y"}}) == "; cannot be used: a, b");
  CHECK(unusable_json({{"a", "x"}}).dump() == R"([{"id":"a","error":"x"}])");
}

}  // namespace ubique::meshnet

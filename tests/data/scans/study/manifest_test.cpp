// SPDX-License-Identifier: Apache-2.0
// dataset_info.json: read, resolved, refused, written.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/data/scans/study/manifest.h"

using namespace ubique;
namespace fs = std::filesystem;

namespace {

/// A study of two in `folder`: files that exist, and a manifest with that text.
fs::path two_scans(const test::ScratchFolder& folder, const std::string& manifest) {
  fs::create_directories(folder / "study/cache");
  for (const auto* name : {"a.nii.gz", "b.nii.gz", "a_mask.nii.gz"}) {
    write_file(folder / (std::string("study/cache/") + name), "x");
  }
  write_file(folder / "study/dataset_info.json", manifest);
  return folder / "study/dataset_info.json";
}

std::string refusal(const std::string& manifest) {
  const test::ScratchFolder folder;
  const auto path = two_scans(folder, manifest);
  return test::refusal_of(ErrorKind::Input, [&] { data::read_manifest(path); });
}

const std::string kBoth = R"("image_paths":["cache/a.nii.gz","cache/b.nii.gz"])";

}  // namespace

TEST_CASE("manifest: paths, masks, sizes, acquisitions and names are read") {
  const test::ScratchFolder folder;
  const auto path = two_scans(folder, R"({"num_samples":2,)" + kBoth + R"(,
    "mask_paths":["cache/a_mask.nii.gz",null],"lesion_volumes":[203,null],
    "acquisition_types":["space_2x","space_no_accel"],"subject_ids":["sub-1","sub-2"],"more":1})");
  const auto cohort = data::read_manifest(path);
  CHECK(cohort.source == "manifest");
  CHECK(fs::equivalent(cohort.root, folder / "study"));
  REQUIRE(cohort.subjects.size() == 2);
  const auto& [first, second] = std::tie(cohort.subjects[0], cohort.subjects[1]);
  CHECK(first.id == "sub-1");
  CHECK(fs::equivalent(first.image, folder / "study/cache/a.nii.gz"));
  REQUIRE(first.mask.has_value());
  CHECK(fs::equivalent(*first.mask, folder / "study/cache/a_mask.nii.gz"));
  CHECK(first.lesion_voxels == 203);
  CHECK(first.acquisition == "space_2x");
  CHECK_FALSE(second.mask.has_value());
  CHECK(second.lesion_voxels == -1);
  CHECK(second.acquisition == "space_no_accel");
}

TEST_CASE("manifest: images alone are enough, and get their names from the files") {
  const test::ScratchFolder folder;
  const auto cohort = data::read_manifest(two_scans(folder, "{" + kBoth + "}"));
  REQUIRE(cohort.subjects.size() == 2);
  CHECK(cohort.subjects[1].id == "b");
  CHECK(cohort.subjects[1].acquisition == "unknown");
  const auto error = test::refusal_of(ErrorKind::Input, [&] { data::require_masks(cohort); });
  CHECK(test::contains(error, "2 of 2 subjects"));
  CHECK(test::contains(error, "a, b"));
}

TEST_CASE("manifest: paths are looked for in up to five folders above, and no further") {
  const test::ScratchFolder folder;
  fs::create_directories(folder / "1/2/3/4/5/6");
  write_file(folder / "1/scan.nii", "x");
  const std::string text = R"({"image_paths":["scan.nii"]})";
  write_file(folder / "1/2/3/4/5/6/dataset_info.json", text);
  const auto found = data::read_manifest(folder / "1/2/3/4/5/6/dataset_info.json");
  CHECK(fs::equivalent(found.subjects[0].image, folder / "1/scan.nii"));
  fs::create_directories(folder / "1/2/3/4/5/6/7");
  write_file(folder / "1/2/3/4/5/6/7/dataset_info.json", text);
  const auto error = test::refusal_of(
      ErrorKind::Input, [&] { data::read_manifest(folder / "1/2/3/4/5/6/7/dataset_info.json"); });
  CHECK(test::contains(error, "1 files that do not exist: scan.nii"));
}

TEST_CASE("manifest: missing files are one error that counts them and names the first") {
  const auto error = refusal(R"({"image_paths":["p.nii","q.nii","r.nii","s.nii","cache/a.nii.gz"],)"
                             R"("mask_paths":["m.nii",null,null,null,null]})");
  CHECK(test::contains(error, "5 files that do not exist: p.nii, m.nii, q.nii and 2 more"));
  CHECK(test::contains(error, "expected them below"));
}

TEST_CASE("manifest: counts that do not fit are refused") {
  CHECK(test::contains(refusal(R"({"num_samples":3,)" + kBoth + "}"), "got 3, expected 2"));
  CHECK(test::contains(refusal(R"({"num_samples":"2",)" + kBoth + "}"), "got \"2\""));
  CHECK(test::contains(refusal("{" + kBoth + R"(,"subject_ids":["a"]})"),
                       "subject_ids does not fit image_paths; got 1 entries, expected 2"));
  CHECK(test::contains(refusal(R"({"image_paths":[]})"), "lists no scan"));
}

TEST_CASE("manifest: values of other kinds are refused by name") {
  CHECK(test::contains(refusal("[]"), "not a list of scans"));
  CHECK(test::contains(refusal("{"), "is not JSON"));
  CHECK(test::contains(refusal(R"({"image_paths":"a"})"), "image_paths is no array"));
  CHECK(test::contains(refusal(R"({"image_paths":[1]})"), "image_paths[0] is no text; got 1"));
  CHECK(test::contains(refusal(R"({"image_paths":[null]})"), "image_paths[0] is null"));
  for (const auto* volume : {"-1", "2.5", "\"7\"", "1e300"}) {
    CAPTURE(volume);
    CHECK(test::contains(refusal("{" + kBoth + R"(,"lesion_volumes":[)" + volume + R"(,2]})"),
                         "lesion_volumes[0] is no number of voxels"));
  }
}

TEST_CASE("manifest: what is written is read back, with paths relative to its folder") {
  const test::ScratchFolder folder;
  const auto cohort = data::read_manifest(two_scans(
      folder, "{" + kBoth + R"(,"mask_paths":["cache/a_mask.nii.gz",null],"lesion_volumes":[5,null],
               "acquisition_types":["x","y"]})"));
  data::write_manifest(folder / "study/copy.json", cohort, {{"note", "kept"}});
  const auto text = read_file(folder / "study/copy.json");
  CHECK(test::contains(text, "\"cache/a.nii.gz\""));
  CHECK(test::contains(text, "\"note\": \"kept\""));
  const auto copy = data::read_manifest(folder / "study/copy.json");
  REQUIRE(copy.subjects.size() == 2);
  CHECK(copy.subjects[0].mask == cohort.subjects[0].mask);
  CHECK_FALSE(copy.subjects[1].mask.has_value());
  CHECK(copy.subjects[0].lesion_voxels == 5);
  CHECK(copy.subjects[1].lesion_voxels == -1);
  CHECK(copy.subjects[1].acquisition == "y");
  fs::create_directories(folder / "elsewhere");
  data::write_manifest(folder / "elsewhere/far.json", cohort);  // not below: absolute
  CHECK(data::read_manifest(folder / "elsewhere/far.json").subjects[0].image ==
        cohort.subjects[0].image);
}

// SPDX-License-Identifier: Apache-2.0
// Preparing subjects: scans, their headers, and arc-meshchop's prepared samples.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "tests/base/scratch.h"
#include "tests/data/scans/grids.h"
#include "ubique/base/files/file.h"
#include "ubique/data/scans/study/folder_scan.h"
#include "ubique/data/scans/study/npz_sample.h"
#include "ubique/io/arrays/npz.h"

using namespace ubique;

namespace {

io::HostTensor floats(std::string name, io::Shape shape, const std::vector<float>& values) {
  io::HostTensor tensor{std::move(name), DType::F32, std::move(shape), {}};
  tensor.bytes.resize(values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

const auto kImage = floats("image", {1, 2, 1, 3}, {0, .1F, .2F, .3F, .4F, 1});
const auto kMask = floats("mask", {2, 1, 3}, {0, 1, 0, 0, 2, 1});

void write_sample(const std::filesystem::path& path, const std::vector<io::HostTensor>& tensors) {
  io::write_npz(path, tensors);
}

data::PrepareOptions options_for(const data::Shape3& shape) {
  data::PrepareOptions options;
  options.target.shape = shape;
  return options;
}

data::Subject scan_subject(const test::ScratchFolder& folder, const std::string& id,
                           const data::Shape3& mask_shape) {
  data::Subject subject;
  subject.id = id;
  subject.image = folder / (id + ".nii.gz");
  subject.mask = folder / (id + "_mask.nii.gz");
  const auto affine = test::straight({1, 1, 1});
  data::write_volume(subject.image, test::noise({6, 7, 8}, affine), {});
  data::write_labels(
      *subject.mask,
      test::grid_of<std::uint8_t>(mask_shape, affine, [](auto i, auto, auto) { return i == 2; }),
      {});
  return subject;
}

}  // namespace

TEST_CASE("npz: arc-meshchop's own samples are read") {
  const test::ScratchFolder folder;
  write_sample(folder / "s.npz", {kImage, kMask});
  const auto sample = data::read_npz_sample(folder / "s.npz");
  CHECK(sample.image.shape == data::Shape3{2, 1, 3});
  CHECK(sample.image.at(1, 0, 0) == .3F);
  REQUIRE(sample.mask.has_value());
  CHECK(sample.mask->values == std::vector<std::uint8_t>{0, 1, 0, 0, 1, 1});
  CHECK(data::read_npz_sample(folder / "s.npz", 3).mask->values[4] == 2);

  const auto refusal = [&](const std::vector<io::HostTensor>& tensors, int classes = 2) {
    write_sample(folder / "bad.npz", tensors);
    return test::refusal_of(ErrorKind::Input,
                            [&] { data::read_npz_sample(folder / "bad.npz", classes); });
  };
  CHECK(test::contains(refusal({kMask}), "no array 'image'"));
  CHECK(test::contains(refusal({floats("image", {6}, std::vector<float>(6))}), "three axes"));
  CHECK(test::contains(refusal({kImage, floats("mask", {3, 1, 2}, std::vector<float>(6))}),
                       "do not fit"));
  CHECK(test::contains(refusal({kImage, floats("mask", {2, 1, 3}, {0, 0, 7, 0, 0, 0})}, 3),
                       "has the label 7"));
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(test::contains(refusal({floats("image", {1, 1, 2}, {0, nan})}), "not numbers"));
}

TEST_CASE("npz: a folder of samples is a study, each with its own mask") {
  const test::ScratchFolder folder;
  write_sample(folder / "sample_0001_b.npz", {kImage, kMask});
  write_sample(folder / "sample_0000_a.npz", {kImage, kMask});
  write_file(folder / "notes.txt", "x");
  auto cohort = data::open_cohort(folder.path());
  REQUIRE(cohort.subjects.size() == 2);
  CHECK(cohort.source == "npz");
  CHECK(cohort.subjects[0].id == "sample_0000_a");
  data::require_masks(cohort);
  CHECK(data::measure_lesions(cohort).empty());
  CHECK(cohort.subjects[1].lesion_voxels == 3);

  const auto sample = data::prepare_sample(cohort.subjects[0], options_for({2, 1, 3}));
  CHECK(sample.image.at(0, 0, 1) == .1F);  // unchanged: conformed and normalised already
  CHECK(sample.mask->at(1, 0, 1) == 1);
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input,
                       [&] {
                         data::prepare_sample(cohort.subjects[0], options_for({4, 4, 4}));
                       }),
      "got 2x1x3, expected 4x4x4"));

  write_sample(folder / "sample_0002_c.npz", {kImage});
  auto without = data::open_cohort(folder.path());
  const auto unusable = data::measure_lesions(without);
  REQUIRE(unusable.size() == 1);
  CHECK(unusable[0].id == "sample_0002_c");
  CHECK(test::contains(unusable[0].error, "no array 'mask'"));
  CHECK(without.subjects[1].lesion_voxels == 3);  // the others are measured
  CHECK(without.subjects[2].lesion_voxels == -1);
}

TEST_CASE("prepare: an unusable scan is reported as such, wrong options are not") {
  const test::ScratchFolder folder;
  const auto good = scan_subject(folder, "good", {6, 7, 8});
  auto bad = scan_subject(folder, "bad", {6, 7, 8});
  write_file(bad.image, "no scan");
  CHECK(data::prepare_sample(good, options_for({4, 4, 4})).mask.has_value());
  CHECK_THROWS_AS(data::prepare_sample(bad, options_for({4, 4, 4})), data::UnusableScan);
  CHECK_THROWS_AS(data::prepare_sample(good, options_for({4, 4, 0})), Error);
  try {
    data::prepare_sample(good, options_for({4, 4, 0}));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Usage);  // not an error of the scan
  }
}

TEST_CASE("prepare: a subject without a mask is unusable where one is needed") {
  const test::ScratchFolder folder;
  auto subject = scan_subject(folder, "good", {6, 7, 8});
  data::require_mask(subject);
  subject.mask.reset();
  CHECK_THROWS_AS(data::require_mask(subject), data::UnusableScan);
}

TEST_CASE("prepare: headers show before training which scans cannot be used") {
  const test::ScratchFolder folder;
  std::vector<data::Subject> subjects = {scan_subject(folder, "a", {6, 7, 8})};
  const data::ConformTarget target;
  data::check_subjects(subjects, target);
  subjects.push_back(scan_subject(folder, "b", {6, 7, 9}));
  subjects.push_back(scan_subject(folder, "c", {6, 7, 8}));
  write_file(subjects.back().image, "no scan");
  const auto message =
      test::refusal_of(ErrorKind::Input, [&] { data::check_subjects(subjects, target); });
  CHECK(test::contains(message, "2 of 3 scans cannot be used: b, c"));
  // NibabelConform resamples any mask that overlaps the image.
  subjects.pop_back();
  data::check_subjects(subjects, {data::ConformMethod::NibabelConform, {8, 8, 8}, 1});
}

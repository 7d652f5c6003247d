// SPDX-License-Identifier: Apache-2.0
// Which scans are segmented, and which failures end with one of them.
#include <doctest/doctest.h>

#include <new>

#include "tests/base/scratch.h"
#include "ubique/io/scans/nifti.h"
#include "ubique/models/meshnet/use/segment_files.h"

using namespace ubique;
using namespace ubique::meshnet;
namespace fs = std::filesystem;

namespace {

void write_scan(const fs::path& path, const std::string& intent = {}) {
  io::NiftiHeader header;
  header.shape = {1, 1, 1};
  for (std::size_t axis = 0; axis < 4; ++axis) header.affine[axis][axis] = 1;
  header.intent_name = intent;
  const std::byte voxel{7};
  io::write_nifti(path, header, DType::U8, {&voxel, 1});
}

std::vector<std::string> names_of(const std::vector<SegmentJob>& jobs) {
  std::vector<std::string> names;
  for (const auto& job : jobs) names.push_back(job.name);
  return names;
}

using JobNames = std::vector<std::string>;

}  // namespace

TEST_CASE("segment: results of earlier runs in the folder are no scans") {
  const test::ScratchFolder folder;
  write_scan(folder / "a.nii.gz");
  write_scan(folder / "a_labels.nii.gz", kResultMark);
  write_scan(folder / "renamed.nii", kResultMark);
  write_scan(folder / "a_labels_conformed.nii.gz");  // from before there was a mark
  write_scan(folder / "a_probability-12.nii.gz");
  write_scan(folder / "b_labels.nii.gz");  // no b beside it: somebody's scan
  write_scan(folder / "a_probability-map.nii.gz");
  const JobNames expected = {"a", "a_probability-map", "b_labels"};
  CHECK(names_of(segment_jobs({folder.path().string()})) == expected);
}

TEST_CASE("segment: a file that is named is left out only for its mark") {
  const test::ScratchFolder folder;
  write_scan(folder / "a.nii");
  write_scan(folder / "a_labels.nii");
  write_scan(folder / "c.nii", kResultMark);
  const auto path = [&](const char* name) { return (folder / name).string(); };
  CHECK(names_of(segment_jobs({path("a.nii"), path("a_labels.nii"), path("c.nii")})) ==
        JobNames{"a", "a_labels"});
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { segment_jobs({path("c.nii")}); }),
                       "nothing to segment; got 1 results of earlier runs"));
}

TEST_CASE("segment: what fails for one scan is that scan's, and the rest ends the run") {
  const auto failure = [](const std::exception& error) {
    return failure_of_one_scan(error, "head.nii");
  };
  CHECK(failure(Error(ErrorKind::Input, "[a.b] cut short")) == "[a.b] cut short");
  CHECK(test::contains(failure(std::bad_alloc()).value(), "memory ran out for head.nii"));
  CHECK(failure(std::runtime_error("CUDA out of memory")).has_value());
  CHECK(!failure(Error(ErrorKind::Device, "[a.b] out of memory")).has_value());
  CHECK(!failure(std::runtime_error("broken")).has_value());
}

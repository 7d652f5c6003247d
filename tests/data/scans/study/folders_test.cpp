// SPDX-License-Identifier: Apache-2.0
// Studies found by the names of their files: pairs of folders and BIDS.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/data/scans/study/folder_scan.h"
#include "ubique/data/scans/study/manifest.h"

using namespace ubique;
namespace fs = std::filesystem;

namespace {

void touch(const test::ScratchFolder& folder, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    fs::create_directories((folder / name).parent_path());
    write_file(folder / name, "x");
  }
}

/// Name of the mask of the only subject, "none" without.
std::string mask_of(const std::vector<std::string>& names, const data::BidsOptions& options = {}) {
  const test::ScratchFolder folder;
  touch(folder, names);
  const auto cohort = data::scan_bids(folder.path(), options);
  REQUIRE(cohort.subjects.size() == 1);
  const auto& mask = cohort.subjects[0].mask;
  return mask ? mask->filename().string() : "none";
}

const std::string kAnat = "sub-1/anat/";
const std::string kDerived = "derivatives/lesion/sub-1/anat/";

}  // namespace

TEST_CASE("pairs: masks are found by every ending, and scans without one are kept") {
  const test::ScratchFolder folder;
  touch(folder, {"images/a.nii.gz", "images/b.nii", "images/c.nii.gz", "images/d.nii.gz",
                 "images/e.NII.GZ", "images/f.nii.gz", "images/notes.txt", "images/.a.nii.gz",
                 "masks/a.nii", "masks/b_mask.nii.gz", "masks/c_lesion.nii.gz",
                 "masks/d-mask.nii.gz", "masks/e_seg.nii.gz"});
  const auto cohort = data::open_cohort(folder.path());
  CHECK(cohort.source == "pairs");
  REQUIRE(cohort.subjects.size() == 6);
  const std::vector<std::string> masks = {"a.nii", "b_mask.nii.gz", "c_lesion.nii.gz",
                                          "d-mask.nii.gz", "e_seg.nii.gz"};
  for (std::size_t i = 0; i < masks.size(); ++i) {
    CAPTURE(i);
    REQUIRE(cohort.subjects[i].mask.has_value());
    CHECK(cohort.subjects[i].mask->filename() == masks[i]);
  }
  CHECK(cohort.subjects[4].id == "e");
  CHECK_FALSE(cohort.subjects[5].mask.has_value());
}

TEST_CASE("pairs: no scans, no fitting mask and names given twice are refused") {
  const test::ScratchFolder folder;
  fs::create_directories(folder / "images");
  touch(folder, {"masks/q.nii.gz"});
  const auto scan = [&] { data::scan_pairs(folder / "images", folder / "masks"); };
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, scan), "no scans in"));
  touch(folder, {"images/p.nii"});
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, scan),
                       "got for example q, expected p.nii.gz or p_mask.nii.gz"));
  touch(folder, {"images/p.nii.gz"});
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, scan), "same name but for the ending"));
}

TEST_CASE("bids: sessions, masks and acquisitions of a study are found") {
  const test::ScratchFolder folder;
  touch(folder,
        {"dataset_description.json", "sub-1/ses-9/anat/sub-1_ses-9_acq-spc3p2_run-4_T2w.nii.gz",
         "sub-1/ses-9/anat/sub-1_ses-9_T1w.nii.gz", "sub-1/ses-9/func/sub-1_ses-9_bold.nii.gz",
         "sub-1/ses-10/anat/sub-1_ses-10_acq-spc3_T2w.nii", "sub-2/anat/sub-2_acq-fast_T2w.nii.gz",
         "sub-3/anat/sub-3_T1w.nii.gz",
         "derivatives/lesion_masks/sub-1/ses-9/anat/"
         "sub-1_ses-9_acq-spc3p2_run-4_T2w_desc-lesion_mask.nii.gz",
         "derivatives/lesion_masks/sub-2/anat/sub-2_label-L_mask.nii.gz"});
  const auto cohort = data::open_cohort(folder.path());
  CHECK(cohort.source == "bids");
  REQUIRE(cohort.subjects.size() == 3);
  CHECK(cohort.subjects[0].id == "sub-1_ses-10");
  CHECK_FALSE(cohort.subjects[0].mask.has_value());  // the mask of ses-9 does not match
  CHECK(cohort.subjects[0].acquisition == "space_no_accel");
  CHECK(cohort.subjects[1].id == "sub-1_ses-9");
  CHECK(cohort.subjects[1].mask.has_value());
  CHECK(cohort.subjects[1].acquisition == "space_2x");
  CHECK(cohort.subjects[2].id == "sub-2");
  CHECK(cohort.subjects[2].mask.has_value());
  CHECK(cohort.subjects[2].acquisition == "fast");
}

TEST_CASE("bids: masks have many names, and other files are not taken for masks") {
  for (const auto* name : {"sub-1_desc-lesion_mask", "sub-1_label-lesion_roi", "sub-1_T2w_lesion",
                           "sub-1_label-L_mask", "sub-1_space-orig_label-L_desc-T1lesion_mask",
                           "sub-1_desc-stroke_dseg", "sub-1_space-T2w_desc-lesion_mask"}) {
    CAPTURE(name);
    CHECK(mask_of({kAnat + "sub-1_T2w.nii.gz", kDerived + name + ".nii.gz"}) ==
          std::string(name) + ".nii.gz");
  }
  for (const auto* name :
       {"sub-1_desc-brain_mask", "sub-1_desc-lesionfilled_T1w", "sub-1_label-WM_mask",
        "sub-1_space-MNI152NLin2009cAsym_desc-lesion_mask", "sub-11_desc-lesion_mask"}) {
    CAPTURE(name);
    CHECK(mask_of({kAnat + "sub-1_T2w.nii.gz", kDerived + name + ".nii.gz"}) == "none");
  }
  CHECK(mask_of({kAnat + "sub-1_T2w.nii.gz", kAnat + "sub-1_desc-lesion_mask.nii.gz"}) ==
        "sub-1_desc-lesion_mask.nii.gz");
}

TEST_CASE("bids: of several scans the one that the mask names is taken") {
  const test::ScratchFolder folder;
  touch(folder, {kAnat + "sub-1_acq-a_T2w.nii.gz", kAnat + "sub-1_acq-b_run-1_T2w.nii.gz",
                 kAnat + "sub-1_acq-b_run-2_T2w.nii.gz",
                 kDerived + "sub-1_acq-b_run-2_desc-lesion_mask.nii.gz"});
  const auto cohort = data::scan_bids(folder.path());
  REQUIRE(cohort.subjects.size() == 1);
  CHECK(cohort.subjects[0].image.filename() == "sub-1_acq-b_run-2_T2w.nii.gz");
  CHECK(cohort.subjects[0].acquisition == "b");
}

TEST_CASE("bids: another suffix is asked for by name") {
  const std::vector<std::string> files = {kAnat + "sub-1_T2w.nii.gz", kAnat + "sub-1_FLAIR.nii.gz",
                                          kDerived + "sub-1_space-FLAIR_desc-lesion_mask.nii.gz"};
  CHECK(mask_of(files, {"FLAIR"}) == "sub-1_space-FLAIR_desc-lesion_mask.nii.gz");
  CHECK(mask_of(files) == "none");
  const test::ScratchFolder folder;
  touch(folder, files);
  const auto error =
      test::refusal_of(ErrorKind::Input, [&] { data::scan_bids(folder.path(), {"T1w"}); });
  CHECK(test::contains(error, "none of the 1 subjects"));
  CHECK(test::contains(error, "*_T1w.nii"));
}

TEST_CASE("cohort: the kind of study is found out, a manifest first") {
  const test::ScratchFolder folder;
  touch(folder, {"images/a.nii", "masks/a.nii", "sub-1/anat/sub-1_T2w.nii.gz"});
  CHECK(data::open_cohort(folder.path()).source == "pairs");
  write_file(folder / data::kManifestName, R"({"image_paths":["images/a.nii"]})");
  CHECK(data::open_cohort(folder.path()).source == "manifest");
  CHECK(data::open_cohort(folder / data::kManifestName).source == "manifest");
}

TEST_CASE("cohort: what is no study is refused with what was looked for") {
  const test::ScratchFolder folder;
  const auto error = test::refusal_of(ErrorKind::Input, [&] { data::open_cohort(folder.path()); });
  for (const auto* part : {"dataset_info.json", "images and masks", "sub-*"}) {
    CHECK(test::contains(error, part));
  }
  CHECK(
      test::contains(test::refusal_of(ErrorKind::Input, [&] { data::open_cohort(folder / "no"); }),
                     "there is no"));
  touch(folder, {"scan.nii"});
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { data::open_cohort(folder / "scan.nii"); }),
      "is one scan"));
}

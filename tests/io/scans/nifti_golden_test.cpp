// SPDX-License-Identifier: Apache-2.0
// Scans written by nibabel against what nibabel reads; skipped where the golden files are missing.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "tests/base/scratch.h"
#include "ubique/io/scans/nifti.h"
#include "ubique/io/tensors/safetensors_reader.h"

using namespace ubique;
namespace fs = std::filesystem;

namespace {

const fs::path kShared = fs::path(UBIQUE_SOURCE_DIR) / ".." / "shared";

bool scans_missing(const fs::path& path) {
  if (fs::exists(path)) return false;
  MESSAGE("skipped: no ", path.string());
  return true;
}

double sum_of(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

TEST_CASE("nifti: golden scans have the affine, the scaling and the values nibabel finds") {
  const auto folder = kShared / "golden" / "meshnet";
  if (scans_missing(folder)) return;
  struct Row {
    const char* name;
    std::array<std::int64_t, 3> shape;
    bool scaled;
    double sum, least, most;
  };
  for (const auto& row :
       {Row{"prep_a_image", {40, 36, 22}, true, 3177102.25, -97.75, 738.5},
        Row{"prep_a_mask", {40, 36, 22}, false, 219, 0, 1},
        Row{"prep_b_image",
            {30, 41, 26},
            true,
            191903.33907637,
            -4.858499839901924,
            32.53349892795086},
        Row{"prep_b_mask", {30, 41, 26}, true, 6.154000334441662, 0, 0.017000000923871994},
        Row{"prep_c_image", {20, 24, 18}, false, 8407711, -43, 2473},
        Row{"prep_c_mask", {20, 24, 18}, false, 171, 0, 1}}) {
    CAPTURE(row.name);
    const auto image = io::read_nifti(folder / (std::string(row.name) + ".nii.gz"));
    CHECK(image.header.shape == row.shape);
    CHECK(image.header.dtype == DType::I16);
    CHECK(image.header.scaled == row.scaled);
    CHECK(image.header.sform_code == 1);
    CHECK(image.header.qform_code == 1);
    const auto values = io::to_f32(image);
    CHECK(sum_of(values) == doctest::Approx(row.sum).epsilon(1e-7));
    CHECK(*std::min_element(values.begin(), values.end()) == static_cast<float>(row.least));
    CHECK(*std::max_element(values.begin(), values.end()) == static_cast<float>(row.most));
  }
}

TEST_CASE("nifti: a golden scan is, axis by axis, its canonical twin") {
  const auto folder = kShared / "golden" / "meshnet";
  if (scans_missing(folder)) return;
  // prep_a differs from its canonical twin by flips of the first and third axis alone.
  const auto image = io::read_nifti(folder / "prep_a_image.nii.gz");
  const auto values = io::to_f32(image);
  const io::SafetensorsFile file(folder / "prep_a_canonical.safetensors");
  const auto* tensor = file.find("image");
  REQUIRE(tensor != nullptr);
  std::vector<float> twin(values.size());
  REQUIRE(tensor->size() == twin.size() * sizeof(float));
  file.read(*tensor, std::as_writable_bytes(std::span(twin)));
  const auto [ni, nj, nk] = std::array<std::size_t, 3>{40, 36, 22};
  std::size_t different = 0;
  for (std::size_t i = 0; i < ni; ++i) {
    for (std::size_t j = 0; j < nj; ++j) {
      for (std::size_t k = 0; k < nk; ++k) {
        const auto here = values[(k * nj + j) * ni + i];
        const auto there = twin[((ni - 1 - i) * nj + j) * nk + (nk - 1 - k)];
        different += here != there ? 1 : 0;
      }
    }
  }
  CHECK(different == 0);
}

TEST_CASE("nifti: a real scan is read, written and read again") {
  const auto path = kShared / "data" / "brainchop" / "t1_crop.nii.gz";
  if (scans_missing(path)) return;
  const auto image = io::read_nifti(path);
  CHECK(image.header.shape == std::array<std::int64_t, 3>{256, 256, 256});
  CHECK(image.header.dtype == DType::U8);
  CHECK(image.header.sform_code == 2);
  CHECK(image.header.qform_code == 0);
  CHECK(image.header.affine == io::Affine{{{-1, 0, 0, 127.5999984741211},
                                           {0, 0, 1, -133.48001098632812},
                                           {0, -1, 0, 134.47999572753906},
                                           {0, 0, 0, 1}}});
  CHECK(sum_of(io::to_f32(image)) == 279078935);
  const test::ScratchFolder folder;
  io::write_nifti(folder / "copy.nii.gz", image.header, DType::U8, image.bytes, 1);
  const auto copy = io::read_nifti(folder / "copy.nii.gz");
  CHECK(copy.header.affine == image.header.affine);
  CHECK(copy.bytes == image.bytes);
}

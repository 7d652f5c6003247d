// SPDX-License-Identifier: Apache-2.0
// Written NIfTI files: headers, affines, scaling, compression.
#include <doctest/doctest.h>

#include <cmath>

#include "nifti_samples.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/io/archive/gzip.h"
#include "ubique/io/scans/nifti.h"
#include "ubique/io/scans/nifti_fields.h"

using namespace ubique;
using io::Affine;
using io::NiftiHeader;

namespace {

constexpr Affine kOblique = {
    {{-1.1, 0, 0, 80}, {0, 0.72, -1.38, -21.5}, {0, 0.54, 1.84, 33.25}, {0, 0, 0, 1}}};

NiftiHeader small_header() {
  NiftiHeader header;
  header.shape = {2, 1, 3};
  header.spacing = {1.1, 0.9, 2.3};
  header.affine = kOblique;
  header.sform_code = 1;
  header.qform_code = 1;
  header.description = "made by hand";
  header.intent_name = "a purpose";
  return header;
}

const std::vector<std::uint8_t> kSix = {0, 1, 2, 3, 250, 255};

/// The raw fields of a file.
io::NiftiFields fields_of(const std::filesystem::path& path) {
  const auto file = read_file(path);
  return io::parse_nifti_fields(test::bytes_of(file), path.string());
}

/// What is read back from a file written like this.
NiftiHeader written(const NiftiHeader& header, DType dtype = DType::U8) {
  const test::ScratchFolder folder;
  const std::vector<std::byte> values(
      static_cast<std::size_t>(header.shape[0] * header.shape[1] * header.shape[2] *
                               header.volumes * static_cast<std::int64_t>(size_of(dtype))));
  io::write_nifti(folder / "x.nii", header, dtype, values);
  return io::read_nifti(folder / "x.nii").header;
}

double largest_difference(const Affine& a, const Affine& b) {
  double largest = 0;
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      largest = std::max(largest, std::abs(a[row][column] - b[row][column]));
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("nifti: what is written comes back, gzipped or not") {
  const test::ScratchFolder folder;
  for (const auto* name : {"x.nii", "x.nii.gz", "X.NII.GZ"}) {
    io::write_nifti(folder / name, small_header(), DType::U8, std::as_bytes(std::span(kSix)));
    const auto image = io::read_nifti(folder / name);
    CHECK(test::numbers_of<std::uint8_t>(image.bytes) == kSix);
    CHECK(image.header.shape == small_header().shape);
    CHECK(image.header.volumes == 1);
    CHECK(image.header.dtype == DType::U8);
    CHECK(image.header.version == 1);
    CHECK_FALSE(image.header.scaled);
    CHECK(image.header.description == "made by hand");
    CHECK(image.header.intent_name == "a purpose");
    CHECK(image.header.sform_code == 1);
    CHECK(image.header.qform_code == 1);
    CHECK(image.header.affine_source == io::AffineSource::Sform);
    CHECK(largest_difference(image.header.affine, kOblique) < 1e-5);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      CHECK(image.header.spacing[axis] == double{static_cast<float>(small_header().spacing[axis])});
    }
  }
  CHECK(io::is_gzip(test::bytes_of(read_file(folder / "x.nii.gz"))));
  CHECK(read_file(folder / "x.nii").size() == 352 + 6);
}

TEST_CASE("nifti: every type is written and read") {
  for (const auto dtype : {DType::U8, DType::I8, DType::U16, DType::I16, DType::U32, DType::I32,
                           DType::U64, DType::I64, DType::F32, DType::F64}) {
    CHECK(written(small_header(), dtype).dtype == dtype);
  }
  for (const auto dtype : {DType::BF16, DType::F16, DType::Bool, DType::C64}) {
    const auto error = test::error_of([&] { written(small_header(), dtype); });
    CHECK(error.starts_with("internal: [io.nifti] cannot write voxels of"));
  }
}

TEST_CASE("nifti: the fields that other programs look at are filled") {
  const test::ScratchFolder folder;
  io::write_nifti(folder / "x.nii", small_header(), DType::I16, std::vector<std::byte>(12));
  const auto fields = fields_of(folder / "x.nii");
  CHECK((fields.units & 7) == 2);  // millimetres
  CHECK(fields.bitpix == 16);
  CHECK(fields.vox_offset == 352);
  CHECK(fields.slope == 1);
  CHECK(fields.inter == 0);
  CHECK(fields.dim == std::array<std::int64_t, 8>{3, 2, 1, 3, 1, 1, 1, 1});
  CHECK(test::text_of(test::bytes_of(read_file(folder / "x.nii"))).substr(0, 4) ==
        test::number_bytes(348, std::endian::native == std::endian::big));
}

TEST_CASE("nifti: the qform that is written is the affine, also when it alone is looked at") {
  const test::ScratchFolder folder;
  for (const double flip : {1.0, -1.0}) {
    auto header = small_header();
    for (std::size_t row = 0; row < 3; ++row) header.affine[row][2] *= flip;
    io::write_nifti(folder / "x.nii", header, DType::U8, std::as_bytes(std::span(kSix)));
    auto file = read_file(folder / "x.nii");
    file.replace(254, 2, std::string(2, '\0'));  // no sform
    const auto again = io::parse_nifti(test::bytes_of(file), "x").header;
    CHECK(again.affine_source == io::AffineSource::Qform);
    CHECK(largest_difference(again.affine, header.affine) < 1e-5);
  }
}

TEST_CASE("nifti: an affine with shear is kept as sform, and no qform is claimed") {
  auto header = small_header();
  header.affine[0][1] = 0.3;
  const auto again = written(header);
  CHECK(again.qform_code == 0);
  CHECK(again.sform_code == 1);
  CHECK(largest_difference(again.affine, header.affine) < 1e-5);
}

TEST_CASE("nifti: codes are kept, and without any the affine is still found") {
  const auto codes = [](int sform, int qform) {
    auto header = small_header();
    header.sform_code = sform;
    header.qform_code = qform;
    const auto again = written(header);
    CHECK(largest_difference(again.affine, kOblique) < 1e-5);
    return std::pair(again.sform_code, again.qform_code);
  };
  CHECK(codes(4, 1) == std::pair(4, 1));
  CHECK(codes(2, 0) == std::pair(2, 0));
  CHECK(codes(0, 3) == std::pair(3, 3));
  CHECK(codes(0, 0) == std::pair(2, 0));
}

TEST_CASE("nifti: where spacing and affine disagree, the affine decides") {
  auto header = small_header();
  header.spacing = {5, 5, 5};
  const auto again = written(header);
  CHECK(again.spacing[0] == doctest::Approx(1.1));
  CHECK(again.spacing[1] == doctest::Approx(0.9));
  CHECK(again.spacing[2] == doctest::Approx(2.3));
}

TEST_CASE("nifti: volumes, one voxel and long axes are written") {
  auto header = small_header();
  header.volumes = 5;
  CHECK(written(header).volumes == 5);
  header.volumes = 1;
  header.shape = {1, 1, 1};
  CHECK(written(header).shape == header.shape);
  header.shape = {1, 32767, 1};
  CHECK(written(header).version == 1);
  header.shape = {1, 32768, 1};
  CHECK(written(header).version == 2);
  CHECK(written(header).shape == header.shape);
  CHECK(written(header).affine == header.affine);
  header.shape = {1, 1, 1};
  header.volumes = 40'000;
  CHECK(written(header).version == 2);
  CHECK(written(header).volumes == 40'000);
}

TEST_CASE("nifti: the scaling asked for is written, not that of the scan before it") {
  const test::ScratchFolder folder;
  auto header = small_header();
  header.scaled = true;
  header.slope = 7;
  const auto values = std::as_bytes(std::span(kSix));
  io::write_nifti(folder / "x.nii", header, DType::U8, values);
  CHECK(io::to_f32(io::read_nifti(folder / "x.nii")).back() == 255);
  io::write_nifti(folder / "x.nii", header, DType::U8, values, 6, {0.25, -1});
  const auto image = io::read_nifti(folder / "x.nii");
  CHECK(image.header.scaled);
  CHECK(io::to_f32(image).back() == 62.75F);
  const auto error = test::error_of([&] {
    io::write_nifti(folder / "x.nii", header, DType::U8, values, 6, {0, 1});
  });
  CHECK(test::contains(error, "internal: [io.nifti] cannot write this scaling"));
}

TEST_CASE("nifti: a description or intent that is too long is cut") {
  auto header = small_header();
  header.description = std::string(200, 'x');
  CHECK(written(header).description == std::string(79, 'x'));
  header.intent_name = std::string(20, 'y');
  CHECK(written(header).intent_name == std::string(15, 'y'));
}

TEST_CASE("nifti: equal volumes give equal files, and the level is obeyed") {
  const test::ScratchFolder folder;
  auto header = small_header();
  header.shape = {50, 50, 4};
  const std::vector<std::byte> values(10'000);
  for (const auto& [name, level] : {std::pair("a", 6), {"b", 6}, {"c", 0}}) {
    io::write_nifti(folder / (std::string(name) + ".nii.gz"), header, DType::U8, values, level);
  }
  CHECK(read_file(folder / "a.nii.gz") == read_file(folder / "b.nii.gz"));
  CHECK(read_file(folder / "a.nii.gz").size() < 400);
  CHECK(read_file(folder / "c.nii.gz").size() > 10'000);
}

TEST_CASE("nifti: what cannot be written leaves no file and the old one as it was") {
  const test::ScratchFolder folder;
  write_file(folder / "x.nii", "old");
  const auto error_with = [&](const NiftiHeader& header, std::size_t bytes) {
    return test::error_of([&] {
      io::write_nifti(folder / "x.nii", header, DType::U8, std::vector<std::byte>(bytes));
    });
  };
  CHECK(test::contains(error_with(small_header(), 5), "do not fit their shape; got 5 bytes"));
  auto header = small_header();
  header.affine = {};
  CHECK(test::contains(error_with(header, 6), "internal: [io.nifti] the volume to write"));
  header = small_header();
  header.shape[1] = 0;
  CHECK(test::contains(error_with(header, 0), "cannot write an empty volume"));
  CHECK(read_file(folder / "x.nii") == "old");
  for (const auto* name : {"x.hdr", "x.img", "x.IMG.gz"}) {
    const auto error = test::error_of([&] {
      io::write_nifti(folder / name, small_header(), DType::U8, std::as_bytes(std::span(kSix)));
    });
    CHECK(error.starts_with("usage: [io.nifti] cannot write"));
  }
  CHECK(folder.count() == 1);
}

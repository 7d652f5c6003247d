// SPDX-License-Identifier: Apache-2.0
// NIfTI files of both versions and byte orders, all data types, pairs and gzip.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "nifti_samples.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/io/scans/nifti.h"

using namespace ubique;
using test::SampleScan;

namespace {

io::NiftiImage parse(const std::string& file) {
  return io::parse_nifti(test::bytes_of(file), "scan");
}

io::NiftiImage parse(const SampleScan& scan) { return parse(scan.file()); }

/// A scan of these numbers, in both versions and byte orders, gives them back.
template <typename T>
void check_type(int datatype, DType dtype, const std::vector<T>& values) {
  for (const int version : {1, 2}) {
    for (const bool big : {false, true}) {
      SampleScan scan{.version = version, .big = big, .datatype = datatype};
      scan.dim[1] = static_cast<std::int64_t>(values.size());
      scan.dim[2] = scan.dim[3] = 1;
      scan.voxels = test::voxel_bytes(values, big);
      const auto image = parse(scan);
      CAPTURE(to_string(dtype));
      CHECK(image.header.dtype == dtype);
      CHECK(image.header.version == version);
      CHECK(image.header.swapped == (big != (std::endian::native == std::endian::big)));
      CHECK(test::numbers_of<T>(image.bytes) == values);
      std::vector<float> expected;
      for (const auto value : values) expected.push_back(static_cast<float>(value));
      CHECK(io::to_f32(image) == expected);
    }
  }
}

template <typename T>
void check_whole(int datatype, DType dtype) {
  using limits = std::numeric_limits<T>;
  check_type<T>(datatype, dtype, {limits::min(), limits::max(), 0, 1, 100});
}

}  // namespace

TEST_CASE("nifti: every type is read in both versions and byte orders") {
  check_whole<std::uint8_t>(2, DType::U8);
  check_whole<std::int8_t>(256, DType::I8);
  check_whole<std::uint16_t>(512, DType::U16);
  check_whole<std::int16_t>(4, DType::I16);
  check_whole<std::uint32_t>(768, DType::U32);
  check_whole<std::int32_t>(8, DType::I32);
  check_whole<std::uint64_t>(1280, DType::U64);
  check_whole<std::int64_t>(1024, DType::I64);
  check_type<float>(16, DType::F32, {-1.5F, 0, 1e-30F, std::numeric_limits<float>::infinity()});
  check_type<double>(64, DType::F64, {-1.5, 0, 1e-300, 1e300, 0.1});
}

TEST_CASE("nifti: shape and values have i fastest") {
  const auto image = parse(SampleScan{});
  CHECK(image.header.shape == std::array<std::int64_t, 3>{2, 3, 2});
  CHECK(image.header.volumes == 1);
  CHECK(image.header.spacing == std::array<double, 3>{2, 3, 4});
  const std::vector<float> expected = {1, -2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -12};
  CHECK(io::to_f32(image) == expected);
}

TEST_CASE("nifti: dimensions beyond the third are volumes; missing ones are 1") {
  const auto shape_of = [](std::array<std::int64_t, 8> dim) {
    SampleScan scan;
    scan.dim = dim;
    const auto header = parse(scan).header;
    return std::vector{header.shape[0], header.shape[1], header.shape[2], header.volumes};
  };
  using Shape = std::vector<std::int64_t>;
  CHECK(shape_of({4, 2, 3, 2, 1, 1, 1, 1}) == Shape{2, 3, 2, 1});
  CHECK(shape_of({7, 2, 3, 2, 1, 1, 1, 1}) == Shape{2, 3, 2, 1});
  CHECK(shape_of({4, 2, 3, 1, 2, 0, 0, 0}) == Shape{2, 3, 1, 2});
  CHECK(shape_of({6, 1, 3, 1, 2, 1, 2, -5}) == Shape{1, 3, 1, 4});
  CHECK(shape_of({2, 2, 3, 0, 0, 0, 0, 0}) == Shape{2, 3, 1, 1});
  CHECK(shape_of({1, 12, 0, 0, 0, 0, 0, 0}) == Shape{12, 1, 1, 1});
}

TEST_CASE("nifti: a volume of one voxel is a volume") {
  SampleScan scan;
  scan.dim = {3, 1, 1, 1, 1, 1, 1, 1};
  scan.voxels = test::voxel_bytes<std::int16_t>({7});
  CHECK(io::to_f32(parse(scan)) == std::vector<float>{7});
  CHECK(io::to_f32(parse(test::gzipped(scan.file()))) == std::vector<float>{7});
}

TEST_CASE("nifti: values are scaled in double, and only when the header asks for it") {
  struct Row {
    double slope, inter;
    bool scaled;
    float first;  // of the stored 1
  };
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  for (const auto& row : std::initializer_list<Row>{{1, 0, false, 1},
                                                    {0.25, -12.5, true, -12.25F},
                                                    {1, 3, true, 4},
                                                    {-2, 0, true, -2},
                                                    {0, 5, false, 1},
                                                    {nan, nan, false, 1},
                                                    {nan, 5, false, 1},
                                                    {infinite, 5, false, 1},
                                                    {-infinite, 0, false, 1}}) {
    const auto image = parse(SampleScan{.slope = row.slope, .inter = row.inter});
    CAPTURE(row.slope);
    CHECK(image.header.scaled == row.scaled);
    CHECK(image.header.slope == (row.scaled ? row.slope : 1));
    CHECK(image.header.inter == (row.scaled ? row.inter : 0));
    CHECK(io::to_f32(image).front() == row.first);
  }
  // The product is 61728394.5; in f32 it would be rounded to 61728396.
  SampleScan fine{.datatype = 8, .slope = 0.5, .inter = -61728392};
  fine.voxels = test::voxel_bytes(std::vector<std::int32_t>(12, 123'456'789));
  CHECK(io::to_f32(parse(fine)).front() == 2.5F);
}

TEST_CASE("nifti: extensions are skipped, and what follows the voxels is ignored") {
  SampleScan scan;
  scan.between = std::string(10'000, 'x');
  const auto expected = io::to_f32(parse(SampleScan{}));
  CHECK(io::to_f32(parse(scan)) == expected);
  CHECK(io::to_f32(parse(test::gzipped(scan.file()))) == expected);
  CHECK(io::to_f32(parse(scan.file() + "more")) == expected);
  CHECK(io::to_f32(parse(test::gzipped(scan.file() + "more") + "and more")) == expected);
}

TEST_CASE("nifti: the place of the voxels may have a fraction") {
  SampleScan scan{.vox_offset = 354.5};
  scan.between = "ab";
  CHECK(io::to_f32(parse(scan)).front() == 1);
}

TEST_CASE("nifti: the description ends at its first zero, or fills its field") {
  CHECK(parse(SampleScan{.description = std::string("FSL\0rest", 8)}).header.description == "FSL");
  const std::string full(80, 'd');
  CHECK(parse(SampleScan{.description = full}).header.description == full);
}

TEST_CASE("nifti: gzipped or not is seen from the content, not from the name") {
  const test::ScratchFolder folder;
  const SampleScan scan{.version = 2, .big = true};
  auto stored = scan;
  stored.voxels = test::voxel_bytes<std::int16_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, true);
  write_file(folder / "a.nii", test::gzipped(stored.file()));
  write_file(folder / "a.nii.gz", stored.file());
  const auto file = stored.file();
  write_file(folder / "members.nii.gz",
             test::gzipped(file.substr(0, 100)) + test::gzipped(file.substr(100)));
  for (const auto* name : {"a.nii", "a.nii.gz", "members.nii.gz"}) {
    const auto values = io::to_f32(io::read_nifti(folder / name));
    CHECK(values.back() == 12);
    CHECK(io::read_nifti_header(folder / name).shape[1] == 3);
  }
}

TEST_CASE("nifti: a pair is read by either of its names, gzipped or not") {
  const test::ScratchFolder folder;
  for (const int version : {1, 2}) {
    const SampleScan scan{.version = version, .paired = true};
    write_file(folder / "a.hdr", scan.header());
    write_file(folder / "a.img", scan.voxels);
    write_file(folder / "b.hdr.gz", test::gzipped(scan.header() + std::string(4, '\0')));
    write_file(folder / "b.img.gz", test::gzipped(scan.voxels));
    write_file(folder / "c.hdr", scan.header());
    write_file(folder / "c.img.gz", test::gzipped(scan.voxels));
    write_file(folder / "D.HDR", scan.header());
    write_file(folder / "D.IMG", scan.voxels);
    for (const auto* name :
         {"a.hdr", "a.img", "b.hdr.gz", "b.img.gz", "c.hdr", "c.img.gz", "D.HDR", "D.IMG"}) {
      CAPTURE(name);
      CHECK(io::to_f32(io::read_nifti(folder / name)).back() == -12);
      CHECK(io::read_nifti_header(folder / name).version == version);
    }
  }
}

TEST_CASE("nifti: the voxels of a pair may begin behind other bytes") {
  const test::ScratchFolder folder;
  const SampleScan scan{.paired = true, .vox_offset = 5};
  write_file(folder / "a.hdr", scan.header());
  write_file(folder / "a.img", "12345" + scan.voxels);
  CHECK(io::to_f32(io::read_nifti(folder / "a.hdr")).front() == 1);
}

TEST_CASE("nifti: the header of a damaged file can still be read alone") {
  const test::ScratchFolder folder;
  SampleScan scan;
  scan.voxels.clear();
  write_file(folder / "a.nii", scan.file());
  CHECK(io::read_nifti_header(folder / "a.nii").shape[0] == 2);
  // Cut in the middle of the voxels, which are noise, so that the header is complete.
  scan.dim = {3, 100, 10, 10, 1, 1, 1, 1};
  for (int i = 0; i < 20'000; ++i) scan.voxels += static_cast<char>(i * i % 251 + i % 13);
  const auto file = test::gzipped(scan.file());
  write_file(folder / "b.nii.gz", file.substr(0, file.size() / 2));
  CHECK(io::read_nifti_header(folder / "b.nii.gz").shape[0] == 100);
  CHECK(test::contains(test::error_of([&] { io::read_nifti(folder / "b.nii.gz"); }),
                       "input: [io.gzip]"));
}

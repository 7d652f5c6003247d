// SPDX-License-Identifier: Apache-2.0
// Files that are not scans or are inconsistent: each gives an Input error that names the fault,
// never a crash or an allocation of the size that a header claims.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "nifti_samples.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/base/numbers/random.h"
#include "ubique/io/scans/nifti.h"

using namespace ubique;
using test::SampleScan;

namespace {

struct HostileScan {
  std::string what;
  std::string file;
  std::string message;  // part of it
};

std::string error_for(const std::string& file) {
  return test::error_of([&] { io::parse_nifti(test::bytes_of(file), "bad"); });
}

void check_all(const std::vector<HostileScan>& cases) {
  for (const auto& row : cases) {
    CAPTURE(row.what);
    for (const auto& error : {error_for(row.file), error_for(test::gzipped(row.file))}) {
      CAPTURE(error);
      CHECK(error.starts_with("input: [io.nifti] bad"));
      CHECK(test::contains(error, row.message));
    }
  }
}

std::string with(const std::function<void(SampleScan&)>& change) {
  SampleScan scan;
  change(scan);
  return scan.file();
}

std::string with_dim(std::array<std::int64_t, 8> dim, int version = 1) {
  return with([&](SampleScan& scan) {
    scan.version = version;
    scan.dim = dim;
    scan.sform_code = 1;
    scan.srow = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  });
}

std::string with_type(int datatype) {
  return with([&](SampleScan& scan) { scan.datatype = datatype; });
}

std::string with_offset(double offset, int version = 1, bool paired = false) {
  return with([&](SampleScan& scan) {
    scan.version = version;
    scan.paired = paired;
    scan.vox_offset = offset;
  });
}

}  // namespace

TEST_CASE("nifti: other formats are refused by name") {
  const auto known = [](std::string start) { return start + std::string(600, '\x01'); };
  std::string dicom(600, '\0');
  dicom.replace(128, 4, "DICM");
  std::string mgh;
  for (const int number : {1, 256, 256, 256, 1, 0, 0}) mgh += test::number_bytes(number, true);
  auto analyze = SampleScan{};
  analyze.magic = std::string(4, '\0');
  auto big = analyze;
  big.big = true;
  check_all({
      {"empty", "", "bad is empty; expected a NIfTI volume"},
      {"DICOM", dicom, "a DICOM slice; convert the series, for example with dcm2niix"},
      {"MGH", mgh + std::string(600, '\0'), "a FreeSurfer volume (.mgh, .mgz)"},
      {"Analyze", analyze.file(), "an Analyze 7.5 header, which does not say where left and"},
      {"Analyze, big", big.file(), "an Analyze 7.5 header"},
      {"NRRD", known("NRRD0005\n"), "an NRRD volume"},
      {"MetaImage", known("ObjectType = Image\n"), "a MetaImage header"},
      {"MINC", known("CDF\x01"), "a MINC volume"},
      {"HDF5", known("\x89HDF\r\n\x1a\n"), "an HDF5 file"},
      {"PNG", known("\x89PNG\r\n\x1a\n"), "a PNG picture"},
      {"zip", known("PK\x03\x04"), "a zip archive"},
      {"page", "<!DOCTYPE html><html><body>404 not found", "a web page"},
      {"pointer", "version https://git-lfs.github.com/spec/v1\noid", "a Git LFS pointer"},
      {"text", "subject,age\n1,60\n", "a text"},
      {"gzip in gzip", test::gzipped(test::gzipped("x")), "a gzip file"},
      {"noise", known(std::string(100, '\x02')), "got none of its magics"},
      {"cut header", SampleScan{}.file().substr(0, 200),
       "is cut short within its header; got 200 bytes, expected at least 348"},
      {"cut header, big", big.file().substr(0, 347), "is cut short within its header; got 347"},
      {"short noise", std::string(100, '\x02'), "too short for a NIfTI header; got 100 bytes"},
  });
}

TEST_CASE("nifti: dimensions that are zero, negative or absurd are refused") {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  check_all({
      {"no dimension", with_dim({0, 2, 3, 2, 1, 1, 1, 1}), "got 0 dimensions, expected 1 to 7"},
      {"8 dimensions", with_dim({8, 2, 3, 2, 1, 1, 1, 1}), "got 8 dimensions, expected 1 to 7"},
      {"negative count", with_dim({-3, 2, 3, 2, 1, 1, 1, 1}), "dimensions, expected 1 to 7"},
      {"zero", with_dim({3, 2, 0, 2, 1, 1, 1, 1}), "dimension 2 makes no sense; got 0 voxels"},
      {"negative", with_dim({3, 2, 3, -2, 1, 1, 1, 1}), "dimension 3 makes no sense; got -2"},
      {"no volumes", with_dim({4, 2, 3, 2, 0, 1, 1, 1}), "dimension 4 makes no sense; got 0"},
      {"too large", with_dim({3, 32767, 32767, 32767, 1, 1, 1, 1}), "the voxels are cut short"},
      {"one too many", with_dim({3, 13, 1, 1, 1, 1, 1, 1}), "expected 26 for [13, 1, 1, 1] of i16"},
      {"product wraps", with_dim({3, 1LL << 32U, 1LL << 32U, 1, 1, 1, 1, 1}, 2),
       "expected fewer than 2^63 bytes"},
      {"bytes wrap", with_dim({3, 1LL << 62U, 1, 1, 1, 1, 1, 1}, 2), "fewer than 2^63 bytes"},
      {"volumes wrap", with_dim({5, 2, 3, 2, 1LL << 40U, 1LL << 40U, 1, 1}, 2),
       "volumes, expected fewer than 2^63"},
      {"largest", with_dim({1, largest, 1, 1, 1, 1, 1, 1}, 2), "expected fewer than 2^63 bytes"},
      {"largest that fits", with_dim({1, largest / 2, 1, 1, 1, 1, 1, 1}, 2), "are cut short"},
  });
}

TEST_CASE("nifti: types that are no plain numbers are refused by name") {
  check_all({
      {"unknown", with_type(0), "got unknown (number 0)"},
      {"bit", with_type(1), "got bit (number 1)"},
      {"complex", with_type(32), "got complex64 (number 32), expected whole numbers of 8 to 64"},
      {"RGB", with_type(128), "got RGB24 (number 128)"},
      {"RGBA", with_type(2304), "got RGBA32"},
      {"long double", with_type(1536), "got float128"},
      {"long complex", with_type(1792), "got complex128"},
      {"longest complex", with_type(2048), "got complex256"},
      {"another", with_type(-7), "got of no known name (number -7)"},
  });
}

TEST_CASE("nifti: a place of the voxels that makes no sense is refused") {
  const double infinite = std::numeric_limits<double>::infinity();
  check_all({
      {"zero", with_offset(0), "(vox_offset) makes no sense; got 0, expected 352"},
      {"in the header", with_offset(351), "got 351, expected 352"},
      {"in the header of version 2", with_offset(352, 2), "got 352, expected 544"},
      {"negative", with_offset(-352), "makes no sense"},
      {"NaN", with_offset(std::nan("")), "got nan"},
      {"infinite", with_offset(infinite), "got inf"},
      {"huge", with_offset(1e30), "makes no sense"},
      {"huge whole", with_offset(9e18, 2), "makes no sense"},
      {"behind the end", with_offset(100'000), "the voxels are cut short"},
      {"pair without a file", with_offset(0, 1, true), "the header of a pair"},
  });
}

TEST_CASE("nifti: a damaged header of version 2 and a wrong intercept are refused") {
  auto line_ends = SampleScan{.version = 2}.file();
  line_ends.replace(8, 4, "\n\032\n\n");
  check_all({
      {"line ends", line_ends, "text mode"},
      {"intercept", with([](SampleScan& scan) { scan.slope = 2, scan.inter = std::nan(""); }),
       "got a slope of 2 with an intercept of nan"},
  });
  line_ends.replace(8, 4, std::string(4, '\0'));  // left out by some programs
  CHECK(error_for(line_ends) == "no error");
}

TEST_CASE("nifti: what a header claims is not allocated unless the file can hold it") {
  SampleScan scan{.version = 2, .datatype = 2};
  scan.dim = {3, 4096, 4096, 4096, 1, 1, 1, 1};  // 64 GiB
  for (const auto& file : {scan.file(), test::gzipped(scan.file())}) {
    CHECK(test::contains(error_for(file), "got at most"));  // before it asks for memory
  }
}

TEST_CASE("nifti: cut at any length, a file is refused") {
  for (const int version : {1, 2}) {
    const auto whole = SampleScan{.version = version}.file();
    const auto packed = test::gzipped(whole);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      CAPTURE(length);
      CHECK(error_for(whole.substr(0, length)).starts_with("input: [io.nifti] bad"));
      CHECK(error_for(test::gzipped(whole.substr(0, length))).starts_with("input: [io.nifti] bad"));
    }
    for (std::size_t length = 2; length < packed.size(); ++length) {
      CHECK(error_for(packed.substr(0, length)).starts_with("input: [io.gzip] bad is cut short"));
    }
    CHECK(error_for(whole) == "no error");
    CHECK(error_for(packed) == "no error");
  }
}

TEST_CASE("nifti: a wrong checksum behind good voxels is refused") {
  auto file = test::gzipped(SampleScan{}.file());
  file[file.size() - 6] = static_cast<char>(file[file.size() - 6] ^ 4);
  CHECK(test::contains(error_for(file), "checksum (CRC) does not fit"));
}

TEST_CASE("nifti: with any bytes changed, a file is read in bounds or refused") {
  const auto examine = [](const std::string& file) {
    std::size_t values = 0, bytes = 0;
    const auto error = test::error_of([&] {
      const auto image = io::parse_nifti(test::bytes_of(file), "bad");
      values = io::to_f32(image).size() * size_of(image.header.dtype);
      bytes = image.bytes.size();
    });
    CHECK((error == "no error" || error.starts_with("input: [io.nifti] bad")));
    CHECK(values == bytes);
    CHECK(bytes <= file.size());
  };
  for (const int version : {1, 2}) {
    SampleScan scan{.version = version, .qform_code = 1};
    const auto whole = scan.file();
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const unsigned value : {0U, 1U, 2U, 127U, 128U, 255U}) {
        auto changed = whole;
        changed[i] = static_cast<char>(value);
        examine(changed);
      }
    }
    const Random random(12);
    for (std::uint64_t round = 0; round < 5000; ++round) {
      auto changed = whole;
      const auto draw = random.fork(round);
      for (std::uint64_t k = 0; k < 1 + draw.below(0, 6); ++k) {
        changed[draw.below(10 + 2 * k, changed.size())] =
            static_cast<char>(draw.below(11 + 2 * k, 256));
      }
      examine(changed);
    }
  }
}

TEST_CASE("nifti: a folder, a missing file and half a pair are refused") {
  const test::ScratchFolder folder;
  const auto error_of_file = [&](const std::string& name) {
    return test::refusal_of(ErrorKind::Input, [&] { io::read_nifti(folder / name); });
  };
  CHECK(test::contains(error_of_file("."), "is a folder"));
  CHECK(test::contains(error_of_file("none.nii"), "none.nii"));
  CHECK(test::contains(error_of_file("none.img"), "expected " + (folder / "none.hdr").string()));
  const SampleScan scan{.paired = true};
  write_file(folder / "half.hdr", scan.header());
  CHECK(test::contains(error_of_file("half.hdr"), "the other half of the pair is missing"));
  write_file(folder / "half.img", scan.voxels.substr(1));
  CHECK(test::contains(error_of_file("half.hdr"), "got at most 23 bytes, expected 24"));
  write_file(folder / "named.nii", scan.header());
  CHECK(test::contains(error_of_file("named.nii"), "expected the name to end in .hdr or .img"));
  write_file(folder / "empty.nii.gz", "");
  CHECK(test::contains(error_of_file("empty.nii.gz"), "is empty"));
}

TEST_CASE("nifti: a small gzip stream that would fill memory is refused from its header") {
  SampleScan scan{.version = 2, .datatype = 2};
  scan.dim = {3, 1000, 1000, 400, 1, 1, 1, 1};
  // Only the start is inflated, so the rest may be anything; 1 MB could hold the 400 MB claimed.
  const auto filler = [](std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * i >> 7U);
    return text;
  };
  scan.voxels = filler(1'000'000);
  const auto packed = test::gzipped(scan.file(), 0);
  CHECK(test::contains(error_for(packed), "would grow too much when unpacked; got 400000544"));
  scan.voxels = filler(4'000'000);
  CHECK(test::contains(error_for(test::gzipped(scan.file(), 0)), "cut short"));  // plausible
  scan = {.version = 2, .datatype = 2};
  scan.dim = {3, 2000, 2000, 2000, 1, 1, 1, 1};
  scan.voxels = filler(8'000'000);
  CHECK(test::contains(error_for(test::gzipped(scan.file(), 0)), "too many voxels; got [2000"));
}

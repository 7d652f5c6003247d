// SPDX-License-Identifier: Apache-2.0
// Reading and writing NIfTI scans: axis order, series, bad voxels, threads.
#include <cmath>
#include <limits>

#include "tests/base/scratch.h"
#include "tests/data/scans/grids.h"
#include "ubique/base/files/file.h"
#include "ubique/data/scans/volume/orientation.h"
#include "ubique/data/scans/volume/scan.h"

using namespace ubique;

namespace {

/// A file of i + 10 j + 100 k (+ 1000 per volume), i fastest.
template <typename T>
void write_counting(const std::filesystem::path& path, DType dtype, std::int64_t volumes = 1,
                    double slope = 1) {
  io::NiftiHeader header;
  header.dtype = dtype;
  header.shape = {2, 3, 4};
  header.volumes = volumes;
  header.affine = test::straight({-1, 2, 3}, {5, 6, 7});
  header.spacing = {1, 2, 3};
  header.sform_code = 1;
  header.slope = slope;
  std::vector<T> values;
  for (std::int64_t v = 0; v < volumes; ++v) {
    for (int i = 0; i < 24; ++i) {
      values.push_back(static_cast<T>(i % 2 + 10 * (i / 2 % 3) + 100 * (i / 6) + 1000 * v));
    }
  }
  io::write_nifti(path, header, dtype, std::as_bytes(std::span(values)));
}

}  // namespace

TEST_CASE("scan: values come with k fastest, in the file's own axes") {
  const test::ScratchFolder folder;
  write_counting<std::int16_t>(folder / "sub-01_T2w.nii.gz", DType::I16);
  const auto scan = data::read_scan(folder / "sub-01_T2w.nii.gz");
  CHECK(scan.name == "sub-01_T2w");
  CHECK(scan.stored_integers);
  CHECK(scan.volume.shape == data::Shape3{2, 3, 4});
  CHECK(data::axis_codes(scan.volume.affine) == "LAS");
  CHECK(scan.volume.at(1, 2, 3) == 321);
  CHECK(scan.volume.values[1] == 100);
  CHECK(scan.volume.values[4] == 10);
}

TEST_CASE("scan: floats are not stored integers") {
  const test::ScratchFolder folder;
  write_counting<float>(folder / "x.nii", DType::F32);
  CHECK_FALSE(data::read_scan(folder / "x.nii").stored_integers);
}

TEST_CASE("scan: a series is refused unless one volume is picked") {
  const test::ScratchFolder folder;
  const auto path = folder / "bold.nii";
  write_counting<std::int16_t>(path, DType::I16, 3);
  const auto message = test::refusal_of(ErrorKind::Input, [&] { data::read_scan(path); });
  CHECK(test::contains(message, "got 3, expected one"));
  CHECK(data::read_scan(path, 0).volume.at(1, 2, 3) == 321);
  const auto last = data::read_scan(path, 2);
  CHECK(last.volume.at(1, 2, 3) == 2321);
  CHECK(last.header.volumes == 1);
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { data::read_scan(path, 3); }),
                       "got number 3, expected one below 3"));
}

TEST_CASE("scan: NaN and infinite voxels are counted and one is named") {
  const test::ScratchFolder folder;
  const auto path = folder / "bad.nii";
  auto volume = test::noise({4, 5, 6}, test::straight({1, 1, 1}));
  volume.at(3, 1, 2) = std::numeric_limits<float>::quiet_NaN();
  volume.at(0, 0, 5) = -std::numeric_limits<float>::infinity();
  data::write_volume(path, volume, {});
  const auto message = test::refusal_of(ErrorKind::Input, [&] { data::read_scan(path); });
  CHECK(test::contains(message, "got 2 NaN or infinite, one at (0, 0, 5)"));
  CHECK(test::contains(message, "bad.nii"));
}

TEST_CASE("scan: what is written is read back, with its affine") {
  const test::ScratchFolder folder;
  const auto affine = test::exchanged(test::straight({-1.5, 0.75, 2}, {1, 2, 3}), {1, 2, 0});
  const auto volume = test::noise({7, 40, 33}, affine);
  data::write_volume(folder / "v.nii.gz", volume, {});
  const auto read = data::read_scan(folder / "v.nii.gz", -1, 2);
  CHECK(read.volume.values == volume.values);
  CHECK(test::distance(read.volume.affine, affine) < 1e-6);

  const auto labels = test::grid_of<std::uint8_t>(
      {3, 4, 5}, affine, [](auto i, auto j, auto k) { return i + 3 * j + 12 * k; });
  data::write_labels(folder / "l.nii", labels, read.header);
  const auto back = data::read_scan(folder / "l.nii");
  CHECK(back.header.dtype == DType::U8);
  CHECK(std::equal(back.volume.values.begin(), back.volume.values.end(), labels.values.begin()));
}

TEST_CASE("scan: a volume of one voxel is a scan") {
  const test::ScratchFolder folder;
  data::write_volume(folder / "one.nii", test::noise({1, 1, 1}, test::straight({1, 1, 1})), {});
  CHECK(data::read_scan(folder / "one.nii").volume.values.size() == 1);
}

TEST_CASE("scan: canonical axes are those that to_canonical gives, in every order and direction") {
  const test::ScratchFolder folder;
  const std::vector<std::array<std::size_t, 3>> orders = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& order : orders) {
    for (int signs = 0; signs < 8; ++signs) {
      CAPTURE(order[0] * 100 + order[1] * 10 + order[2]);
      CAPTURE(signs);
      const std::array<double, 3> spacing{(signs & 1) != 0 ? -1.0 : 1.0,
                                          (signs & 2) != 0 ? -2.0 : 2.0,
                                          (signs & 4) != 0 ? -3.0 : 3.0};
      // More planes than one chunk, and not a multiple of it.
      const auto volume =
          test::noise({5, 37, 70}, test::exchanged(test::straight(spacing, {5, 6, 7}), order));
      data::write_volume(folder / "a.nii.gz", volume, {});
      const auto own = data::read_scan(folder / "a.nii.gz", -1, 2);
      const auto turned =
          data::read_scan(folder / "a.nii.gz", -1, 2, data::ScanAxes::Canonical).volume;
      const auto expected = data::to_canonical(own.volume);
      CHECK(own.volume.values == volume.values);
      CHECK(turned.shape == expected.shape);
      CHECK(turned.affine == expected.affine);
      CHECK(turned.values == expected.values);
    }
  }
}

TEST_CASE("scan: the last byte of a file counts, whatever the number of threads") {
  const test::ScratchFolder folder;
  data::write_volume(folder / "a.nii.gz", test::noise({40, 40, 80}, test::straight({1, 1, 1})), {});
  const auto whole = read_file(folder / "a.nii.gz");
  const auto plain = data::read_scan(folder / "a.nii.gz");
  for (const int threads : {1, 2, 5}) {
    CAPTURE(threads);
    CHECK(data::read_scan(folder / "a.nii.gz", -1, threads).volume.values == plain.volume.values);
    auto damaged = whole;
    damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // the CRC
    write_file(folder / "bad.nii.gz", damaged);
    CHECK(test::contains(
        test::refusal_of(ErrorKind::Input,
                         [&] { data::read_scan(folder / "bad.nii.gz", -1, threads); }),
        "checksum"));
    write_file(folder / "cut.nii.gz", std::string_view(whole).substr(0, whole.size() / 2));
    CHECK(test::contains(
        test::refusal_of(ErrorKind::Input,
                         [&] { data::read_scan(folder / "cut.nii.gz", -1, threads); }),
        "cut short"));
  }
}

TEST_CASE("scan: a NaN voxel is named by its index in the file") {
  const test::ScratchFolder folder;
  auto volume = test::noise({4, 5, 6}, test::exchanged(test::straight({-1, 2, 3}), {2, 0, 1}));
  volume.at(1, 3, 4) = std::numeric_limits<float>::infinity();
  data::write_volume(folder / "a.nii", volume, {});
  for (const auto axes : {data::ScanAxes::Own, data::ScanAxes::Canonical}) {
    CHECK(test::contains(
        test::refusal_of(ErrorKind::Input, [&] { data::read_scan(folder / "a.nii", -1, 1, axes); }),
        "one at (1, 3, 4)"));
  }
}

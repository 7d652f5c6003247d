// SPDX-License-Identifier: Apache-2.0
// Affines from sform, qform and spacing. Expected numbers were computed by hand or by nibabel;
// tests/peers/nifti_test.py compares many more.
#include <doctest/doctest.h>

#include <cmath>

#include "nifti_samples.h"
#include "tests/base/scratch.h"
#include "ubique/io/scans/nifti.h"
#include "ubique/io/scans/nifti_affine.h"

using namespace ubique;
using io::Affine;
using test::SampleScan;

namespace {

io::NiftiHeader header_of(const SampleScan& scan) {
  const auto file = scan.file();
  return io::parse_nifti(test::bytes_of(file), "scan").header;
}

std::string refused(const SampleScan& scan) {
  return test::refusal_of(ErrorKind::Input, [&] { header_of(scan); });
}

void check_near(const Affine& found, const Affine& expected, double tolerance = 1e-12) {
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      CAPTURE(row);
      CAPTURE(column);
      CHECK(found[row][column] == doctest::Approx(expected[row][column]).epsilon(tolerance));
    }
  }
}

/// Turned by an angle about z, then about x, with these voxel sizes.
Affine turned(double about_z, double about_x, const std::array<double, 3>& sizes) {
  const double c = std::cos(about_z), s = std::sin(about_z);
  const double d = std::cos(about_x), t = std::sin(about_x);
  Affine affine = {{{c, -s, 0, 10}, {d * s, d * c, -t, -20}, {t * s, t * c, d, 30}, {0, 0, 0, 1}}};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t axis = 0; axis < 3; ++axis) affine[row][axis] *= sizes[axis];
  }
  return affine;
}

}  // namespace

TEST_CASE("nifti affine: the sform comes first") {
  SampleScan scan{.qform_code = 1, .sform_code = 2};
  scan.srow = {-2, 0, 0.5, 90, 0, 3, 0, -126, 0, 0, 4, -72};
  const auto header = header_of(scan);
  CHECK(header.affine_source == io::AffineSource::Sform);
  CHECK(header.sform_code == 2);
  CHECK(header.qform_code == 1);
  CHECK(header.affine == Affine{{{-2, 0, 0.5, 90}, {0, 3, 0, -126}, {0, 0, 4, -72}, {0, 0, 0, 1}}});
}

TEST_CASE("nifti affine: the qform is rotation, sizes, handedness and offset") {
  SampleScan scan{.qform_code = 1};
  scan.qoffset = {10, -20, 30};
  CHECK(header_of(scan).affine_source == io::AffineSource::Qform);
  check_near(header_of(scan).affine,
             {{{2, 0, 0, 10}, {0, 3, 0, -20}, {0, 0, 4, 30}, {0, 0, 0, 1}}});
  scan.pixdim[0] = -1;
  check_near(header_of(scan).affine,
             {{{2, 0, 0, 10}, {0, 3, 0, -20}, {0, 0, -4, 30}, {0, 0, 0, 1}}});
  // A quarter turn about z takes i to y and j to -x.
  scan.pixdim[0] = 0;  // neither 1 nor -1 counts as 1
  scan.quaternion = {0, 0, std::sqrt(0.5)};
  scan.version = 2;
  check_near(header_of(scan).affine,
             {{{0, -3, 0, 10}, {2, 0, 0, -20}, {0, 0, 4, 30}, {0, 0, 0, 1}}});
}

TEST_CASE("nifti affine: a quaternion a little too long is a half turn, a longer one is refused") {
  SampleScan scan{.qform_code = 1};
  scan.quaternion = {1 + 1e-7, 0, 0};
  check_near(header_of(scan).affine, {{{2, 0, 0, 0}, {0, -3, 0, 0}, {0, 0, -4, 0}, {0, 0, 0, 1}}},
             1e-6);
  scan.quaternion = {1.0001, 0, 0};
  CHECK(test::contains(refused(scan), "quaternion is too long"));
  scan.quaternion = {std::nan(""), 0, 0};
  CHECK(test::contains(refused(scan), "quaternion is too long"));
  scan.version = 2;  // whose numbers are finer
  scan.quaternion = {1 + 1e-7, 0, 0};
  CHECK(test::contains(refused(scan), "quaternion is too long"));
  scan.sform_code = 1;  // nobody asks for the qform
  scan.srow = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  CHECK(header_of(scan).affine[0][0] == 1);
}

TEST_CASE("nifti affine: without codes the volume is centred and x runs to the left") {
  SampleScan scan;
  scan.srow = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
  const auto header = header_of(scan);
  CHECK(header.affine_source == io::AffineSource::Spacing);
  CHECK(header.affine == Affine{{{-2, 0, 0, 1}, {0, 3, 0, -3}, {0, 0, 4, -2}, {0, 0, 0, 1}}});
}

TEST_CASE("nifti affine: unknown codes count as none") {
  for (const int code : {-1, 6, 1000}) {
    const auto header = header_of({.qform_code = code, .sform_code = code});
    CHECK(header.affine_source == io::AffineSource::Spacing);
    CHECK(header.sform_code == 0);
    CHECK(header.qform_code == 0);
  }
}

TEST_CASE("nifti affine: metres and micrometres become millimetres") {
  const auto all = [](int units) {
    SampleScan scan{.units = units, .sform_code = 1};
    scan.srow = {2, 0, 0, 8, 0, 3, 0, 8, 0, 0, 4, 8};
    const auto header = header_of(scan);
    CHECK(header.spacing[0] == header.affine[0][0]);
    CHECK(header.affine[0][3] == 4 * header.affine[0][0]);
    CHECK(header.affine[3][3] == 1);
    return header.spacing[0];
  };
  CHECK(all(0) == 2);
  CHECK(all(2 | 8) == 2);
  CHECK(all(1) == 2000);
  CHECK(all(3 | 16) == doctest::Approx(0.002));
}

TEST_CASE("nifti affine: a negative spacing means its size, a missing axis needs none") {
  SampleScan scan;
  scan.pixdim[1] = -2;
  CHECK(header_of(scan).spacing[0] == 2);
  SampleScan flat;
  flat.dim = {2, 4, 3, 1, 1, 1, 1, 1};
  flat.pixdim[3] = 0;
  CHECK(header_of(flat).spacing[2] == 1);
}

TEST_CASE("nifti affine: what is zero, infinite, absurd or singular is refused") {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  for (const double size : {0.0, nan, infinite, 1e7, 1e-7}) {
    SampleScan scan{.sform_code = 1};
    scan.srow = {2, 0, 0, 8, 0, 3, 0, 8, 0, 0, 4, 8};
    scan.pixdim[2] = size;
    CHECK(test::contains(refused(scan), "the spacing of axis 1 makes no sense"));
  }
  const auto sform_error = [](const std::array<double, 12>& srow) {
    SampleScan scan{.sform_code = 1};
    scan.srow = srow;
    return refused(scan);
  };
  CHECK(test::contains(sform_error({}), "got 0 mm per voxel along axis 0"));
  CHECK(test::contains(sform_error({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}), "along axis 2"));
  CHECK(test::contains(sform_error({nan, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}), "got nan mm"));
  CHECK(test::contains(sform_error({1, 0, 0, infinite, 0, 1, 0, 0, 0, 0, 1, 0}), "offset of inf"));
  CHECK(test::contains(sform_error({1, 0, 0, 0, 0, 1, 0, nan, 0, 0, 1, 0}), "offset of nan"));
  CHECK(test::contains(sform_error({1, 0, 0, 0, 0, 1e9, 0, 0, 0, 0, 1, 0}), "makes no sense"));
  CHECK(test::contains(sform_error({1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0}), "singular"));
  CHECK(test::contains(sform_error({1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0}), "singular"));
}

TEST_CASE("nifti affine: an affine without shear gives the qform that gives it back") {
  const double pi = std::acos(-1.0);
  for (const double about_z : {0.0, 0.3, pi / 2, pi, -2.5}) {
    for (const double about_x : {0.0, 1.0, pi, -1.7}) {
      for (const double flip : {1.0, -1.0}) {
        const auto affine = turned(about_z, about_x, {1.1, 0.9, 2.3 * flip});
        const auto qform = io::qform_of(affine);
        REQUIRE(qform.has_value());
        CHECK(qform->handedness == flip);
        SampleScan scan{.version = 2, .pixdim = {flip, 1.1, 0.9, 2.3, 1, 1, 1, 1}, .qform_code = 1};
        scan.quaternion = qform->quaternion;
        scan.qoffset = {10, -20, 30};
        const auto again = header_of(scan).affine;
        for (std::size_t row = 0; row < 3; ++row) {
          for (std::size_t column = 0; column < 4; ++column) {
            CHECK(std::abs(again[row][column] - affine[row][column]) < 1e-6);
          }
        }
      }
    }
  }
}

TEST_CASE("nifti affine: an affine with shear has no qform") {
  auto affine = turned(0.3, 1, {1, 1, 2});
  affine[0][1] += 0.01;
  CHECK_FALSE(io::qform_of(affine).has_value());
}

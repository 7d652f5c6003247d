// SPDX-License-Identifier: Apache-2.0
// Conform methods on cases small enough to compute by hand.
#include "ubique/data/scans/conform/conform.h"

#include <algorithm>
#include <cmath>

#include "tests/base/scratch.h"
#include "tests/data/scans/grids.h"
#include "ubique/data/scans/conform/methods.h"
#include "ubique/data/scans/volume/orientation.h"

using namespace ubique;
using data::ConformMethod;
using data::ConformTarget;

namespace {

/// A scan of one row along z.
data::Scan row_scan(std::vector<float> values, double spacing, DType dtype = DType::F32) {
  const auto length = static_cast<std::int64_t>(values.size());
  return test::scan_of({{1, 1, length}, test::straight({1, 1, spacing}), std::move(values)}, dtype);
}

std::vector<float> conformed_row(const data::Scan& scan, ConformMethod method,
                                 std::int64_t length) {
  return data::conform(scan, {method, {1, 1, length}, 1}).values;
}

/// Zeros around a row.
std::vector<float> padded(std::vector<float> inner, std::size_t before, std::size_t after) {
  inner.insert(inner.begin(), before, 0.0F);
  inner.insert(inner.end(), after, 0.0F);
  return inner;
}

data::Affine oblique(double degrees, std::array<double, 3> spacing) {
  const double angle = degrees * 3.14159265358979323846 / 180;
  auto turn = test::straight({1, 1, 1});
  turn[0] = {std::cos(angle), -std::sin(angle), 0, 3};
  turn[1] = {std::sin(angle), std::cos(angle), 0, -4};
  return data::multiply(turn, test::straight(spacing));
}

}  // namespace

TEST_CASE("scipy_zoom: corners are aligned, values between are linear") {
  const auto scan = row_scan({0, 4, 8}, 5.0 / 3);  // 3 voxels become 5
  CHECK(conformed_row(scan, ConformMethod::ScipyZoom, 5) == std::vector<float>{0, 2, 4, 6, 8});
}

TEST_CASE("scipy_zoom: the number of voxels is rounded with halves to even") {
  const auto fives = row_scan({1, 1, 1, 1, 1}, 0.5);  // 2.5 becomes 2
  CHECK(conformed_row(fives, ConformMethod::ScipyZoom, 4) == padded({1, 1}, 1, 1));
  const auto sevens = row_scan({1, 1, 1, 1, 1, 1, 1}, 0.5);  // 3.5 becomes 4
  CHECK(conformed_row(sevens, ConformMethod::ScipyZoom, 4) == std::vector<float>{1, 1, 1, 1});
}

TEST_CASE("scipy_zoom: crop and pad are centred, the odd voxel before the crop and after the pad") {
  const auto scan = row_scan({1, 2, 3, 4, 5}, 1);
  CHECK(conformed_row(scan, ConformMethod::ScipyZoom, 2) == std::vector<float>{2, 3});
  CHECK(conformed_row(scan, ConformMethod::ScipyZoom, 8) == padded({1, 2, 3, 4, 5}, 1, 2));
}

TEST_CASE(
    "scipy_zoom: an axis of one voxel is spread, and one that shrinks to one voxel keeps its "
    "first") {
  CHECK(conformed_row(row_scan({7}, 3), ConformMethod::ScipyZoom, 5) == padded({7, 7, 7}, 1, 1));
  CHECK(conformed_row(row_scan({7, 9}, 0.6), ConformMethod::ScipyZoom, 1) == std::vector<float>{7});
  const auto one = data::conform(test::scan_of(test::noise({1, 1, 1}, test::straight({1, 1, 1}))),
                                 {ConformMethod::ScipyZoom, {3, 3, 3}, 1});
  CHECK(one.at(1, 1, 1) > 0);
  CHECK(std::count(one.values.begin(), one.values.end(), 0.0F) == 26);
}

TEST_CASE("scipy_zoom: the affine maps each voxel to the voxel of the scan it came from") {
  const auto z_of = [](const data::Scan& scan, std::int64_t length, double voxel) {
    const auto cube = data::conform(scan, {ConformMethod::ScipyZoom, {1, 1, length}, 1});
    return cube.affine[2][2] * voxel + cube.affine[2][3];
  };
  const auto scan = row_scan({0, 4, 8}, 5.0 / 3);  // at 0, 5/3 and 10/3 mm; 5 voxels
  CHECK(z_of(scan, 5, 0) == doctest::Approx(0));
  CHECK(z_of(scan, 5, 4) == doctest::Approx(10.0 / 3));
  CHECK(z_of(scan, 9, 2) == doctest::Approx(0));        // two voxels of padding
  CHECK(z_of(scan, 3, 1) == doctest::Approx(5.0 / 3));  // one cropped on each side
  // A single voxel has no corners: its extent is divided around its centre.
  CHECK(z_of(row_scan({7}, 3), 5, 2) == doctest::Approx(0));
  CHECK(z_of(row_scan({7}, 3), 5, 3) == doctest::Approx(1));
  CHECK(z_of(row_scan({7, 9}, 0.6), 1, 0) == doctest::Approx(0.3));
}

TEST_CASE("scipy_zoom: the last plane is zero where it is in SciPy") {
  // 25 * (14 / 25) rounds to above 14; 27 * (14 / 27) does not.
  const std::vector<float> ones(15, 1.0F);
  const auto lost = conformed_row(row_scan(ones, 26.0 / 15), ConformMethod::ScipyZoom, 26);
  CHECK(lost == padded(std::vector<float>(25, 1.0F), 0, 1));
  const auto kept = conformed_row(row_scan(ones, 28.0 / 15), ConformMethod::ScipyZoom, 28);
  CHECK(kept == std::vector<float>(28, 1.0F));
}

TEST_CASE("scipy_zoom: masks take the nearest voxel, the upper one of two") {
  auto mask = row_scan({0, 1, 0, 0, 1}, 9.0 / 5, DType::U8);
  const auto labels = data::conform_mask(mask, mask, {ConformMethod::ScipyZoom, {1, 1, 9}, 1}, 2);
  CHECK(labels.values == std::vector<std::uint8_t>{0, 1, 1, 0, 0, 0, 0, 1, 1});
}

TEST_CASE("masks: tiny scaled values count, negative ones do not") {
  auto mask = row_scan({0.0F, 0.017F, -1.0F, 1e-30F}, 1);
  for (const auto method :
       {ConformMethod::ScipyZoom, ConformMethod::NibabelConform, ConformMethod::None}) {
    const auto labels = data::conform_mask(mask, mask, {method, {1, 1, 4}, 1});
    CHECK(labels.values == std::vector<std::uint8_t>{0, 1, 0, 1});
  }
}

TEST_CASE("scipy_zoom: a scan thinner than half a voxel is refused") {
  const auto message = test::refusal_of(
      ErrorKind::Input, [] { conformed_row(row_scan({1}, 0.4), ConformMethod::ScipyZoom, 4); });
  CHECK(test::contains(message, "got 1 voxels of 0.4 mm"));
}

TEST_CASE("nibabel_conform: voxel (n - 1) / 2 keeps its position, outside is 0") {
  const auto scan = row_scan({1, 2, 3, 4}, 2);  // voxel 1 stays at 2 mm
  CHECK(conformed_row(scan, ConformMethod::NibabelConform, 11) ==
        padded({1, 1.5, 2, 2.5, 3, 3.5, 4}, 3, 1));
  CHECK(conformed_row(scan, ConformMethod::NibabelConform, 3) == std::vector<float>{1.5, 2, 2.5});
}

TEST_CASE("nibabel_conform: integers stay integers, halves are rounded away from zero") {
  const auto whole = row_scan({1, 2, -3, -4}, 2, DType::I16);
  CHECK(conformed_row(whole, ConformMethod::NibabelConform, 7) ==
        std::vector<float>{0, 1, 2, 2, -1, -3, -4});
  auto scaled = whole;
  scaled.stored_integers = false;
  CHECK(conformed_row(scaled, ConformMethod::NibabelConform, 7) ==
        std::vector<float>{0, 1, 1.5, 2, -0.5, -3, -3.5});
}

TEST_CASE("nibabel_conform: an oblique scan at the target's spacing is only padded") {
  for (int degrees = 1; degrees < 45; ++degrees) {
    const auto volume = test::noise({9, 8, 7}, oblique(degrees, {1, 1, 1}));
    const auto found =
        data::conform(test::scan_of(volume), {ConformMethod::NibabelConform, {11, 12, 9}, 1}, 2);
    double largest = 0;
    for (std::int64_t i = 0; i < 9; ++i) {  // 4 to 5, 3 to 5, 3 to 4: faces must be there too
      for (std::int64_t j = 0; j < 8; ++j) {
        for (std::int64_t k = 0; k < 7; ++k) {
          const double value = found.at(i + 1, j + 2, k + 1);
          largest = std::max(largest, std::abs(value - volume.at(i, j, k)));
        }
      }
    }
    CHECK(largest < 1e-4);
  }
}

TEST_CASE("conform: each axis has its own target spacing") {
  // Linear interpolation restores a linear function exactly, so that values are known everywhere.
  const auto ramp = [](double x, double y, double z) { return 100 + 3 * x - 2 * y + 5 * z; };
  const auto volume =
      test::grid_of<float>({10, 12, 14}, test::straight({2, 1, 1.5}),
                           [&](auto i, auto j, auto k) { return ramp(2.0 * i, 1.0 * j, 1.5 * k); });
  const auto scan = test::scan_of(volume);
  const data::Spacing3 spacing(0.9, 1.1, 1.0);

  // 10 * 2 / 0.9, 12 / 1.1 and 14 * 1.5 voxels, rounded; the corners of both grids coincide.
  const auto zoomed = data::conform(scan, {ConformMethod::ScipyZoom, {22, 11, 21}, spacing}, 2);
  const auto steps = data::spacing_of(zoomed.affine);
  CHECK(steps[0] == doctest::Approx(2 * 9.0 / 21));
  CHECK(steps[1] == doctest::Approx(11.0 / 10));
  CHECK(steps[2] == doctest::Approx(1.5 * 13.0 / 20));
  CHECK(zoomed.at(21, 10, 20) == doctest::Approx(ramp(18, 11, 19.5)));
  CHECK(zoomed.at(7, 4, 9) == doctest::Approx(ramp(7 * steps[0], 4 * steps[1], 9 * steps[2])));

  // Voxels (4, 5, 6) and (9, 5, 10), the middle ones, are at the same place: 8, 5 and 9 mm.
  const auto centred =
      data::conform(scan, {ConformMethod::NibabelConform, {20, 12, 22}, spacing}, 2);
  CHECK(test::distance(centred.affine, test::straight({0.9, 1.1, 1.0}, {-0.1, -0.5, -1})) < 1e-12);
  for (std::int64_t i = 1; i < 20; ++i) {
    CHECK(centred.at(i, 5, 3) == doctest::Approx(ramp(-0.1 + 0.9 * i, 5, 2)));
  }
  for (std::int64_t j = 1; j < 11; ++j) {
    CHECK(centred.at(9, j, 3) == doctest::Approx(ramp(8, -0.5 + 1.1 * j, 2)));
  }
  CHECK(centred.at(0, 5, 3) == 0);  // before the first voxel

  // The axes are those of the result: to the left, down, to the front.
  const auto turned = data::conform(scan, {ConformMethod::Brainchop, {24, 24, 24}, spacing}, 2);
  CHECK(data::axis_codes(turned.affine) == "LIA");
  CHECK(data::voxel_volume(turned.affine) == doctest::Approx(0.9 * 1.1 * 1.0));
  CHECK(turned.affine[0][0] == -0.9);
  CHECK(turned.affine[2][1] == -1.1);
  CHECK(turned.affine[1][2] == 1.0);
}

TEST_CASE("none: canonical axes on the scan's own grid, whatever the target's shape") {
  const auto volume = test::noise({4, 5, 6}, test::straight({-1, 2, 3}, {1, 2, 3}));
  const auto found = data::conform(test::scan_of(volume), {ConformMethod::None, {8, 8, 8}, 1});
  CHECK(found.shape == volume.shape);
  CHECK(data::axis_codes(found.affine) == "RAS");
  CHECK(found.at(0, 1, 2) == volume.at(3, 1, 2));
}

TEST_CASE("brainchop: only a scan that is conformed already is unchanged") {
  const auto affine = test::exchanged(test::straight({-1, 1, -1}), {0, 2, 1});
  const auto volume = test::noise({6, 6, 6}, affine);
  const ConformTarget target{ConformMethod::Brainchop, {6, 6, 6}, 1};
  CHECK(data::conform(test::scan_of(volume, DType::U8), target).values == volume.values);
  CHECK(data::conform(test::scan_of(volume, DType::I16), target).values != volume.values);
  const ConformTarget uneven{ConformMethod::Brainchop, {6, 6, 6}, {1, 1, 2}};
  const auto resampled = data::conform(test::scan_of(volume, DType::U8), uneven);
  CHECK(resampled.values != volume.values);
  CHECK(data::spacing_of(resampled.affine)[2] == doctest::Approx(2));
}

TEST_CASE("brainchop: axes are LIA and the centres n / 2 of both grids coincide") {
  // 8-bit values are not rescaled, so voxels can be traced.
  const auto volume =
      test::grid_of<float>({6, 6, 6}, test::straight({1, 1, 1}),
                           [](auto i, auto j, auto k) { return i + 6 * j + 36 * k; });
  const auto found =
      data::conform(test::scan_of(volume, DType::U8), {ConformMethod::Brainchop, {8, 8, 8}, 1}, 2);
  CHECK(data::axis_codes(found.affine) == "LIA");
  CHECK(found.at(4, 4, 4) == volume.at(3, 3, 3));
  CHECK(found.at(5, 4, 4) == volume.at(2, 3, 3));  // i runs to the left
  CHECK(found.at(4, 5, 4) == volume.at(3, 3, 2));  // j runs down
  CHECK(found.at(4, 4, 5) == volume.at(3, 4, 3));  // k runs to the front
  CHECK(found.at(0, 4, 4) == 0);                   // x = 7: outside
  CHECK(found.at(7, 4, 4) == volume.at(0, 3, 3));

  // With a flipped axis, n / 2 is on the other side of the centre.
  const auto flipped =
      test::grid_of<float>({6, 6, 6}, test::straight({-1, 1, 1}),
                           [](auto i, auto j, auto k) { return i + 6 * j + 36 * k; });
  const auto other =
      data::conform(test::scan_of(flipped, DType::U8), {ConformMethod::Brainchop, {8, 8, 8}, 1});
  CHECK(other.at(4, 4, 4) == flipped.at(3, 3, 3));
  CHECK(other.at(5, 4, 4) == flipped.at(4, 3, 3));
}

TEST_CASE("brainchop: axis-aligned and oblique scans give the same values") {
  // The angle is so small that the values are the same, yet too large for the axis-aligned path.
  const auto volume = test::noise({12, 10, 14}, test::straight({1.53, 1.97, 1.23}));
  const ConformTarget target{ConformMethod::Brainchop, {20, 20, 20}, 1};
  auto slanted = volume;
  slanted.affine[0][1] = 1e-6;
  slanted.affine[1][2] = -1e-6;
  const auto a = data::conform(test::scan_of(volume), target, 2);
  const auto b = data::conform(test::scan_of(slanted), target, 2);
  for (std::size_t i = 0; i < a.values.size(); ++i) CHECK(std::abs(a.values[i] - b.values[i]) <= 1);
}

TEST_CASE("brainchop: the top thousandth of the non-zero voxels is clipped, the minimum is black") {
  std::vector<float> values(10'000, 0.0F);
  for (std::size_t i = 0; i < 5000; ++i) values[i] = 100.5F;
  values[5000] = 1000;  // bins of 1: 5001 non-zero voxels, 5 may be cut
  const auto scale = data::robust_scale(values);
  CHECK(scale.low == 0);
  // 9995 voxels lie up to bin 100; the value is the start of the bin before it.
  CHECK(scale.factor == doctest::Approx(255.0 / 99));
  for (std::size_t i = 5000; i < 5006; ++i) values[i] = 1000;  // one too many to cut
  CHECK(data::robust_scale(values).factor == doctest::Approx(255.0 / 998));
}

TEST_CASE("brainchop: a flat and a nearly empty scan are not scaled") {
  CHECK(data::robust_scale({5, 5, 5}).factor == 1);
  std::vector<float> values(100'000, 0.0F);
  for (std::size_t i = 0; i < 2000; ++i) values[i] = 0.5F;  // all below the second bin of 1000
  values[0] = 1000;
  CHECK(data::robust_scale(values).factor == 1);
}

TEST_CASE("brainchop: results are whole numbers from 0 to 255, truncated") {
  auto volume = test::noise({20, 20, 20}, test::straight({1.3, 1.1, 0.9}));
  for (auto& value : volume.values) value -= 50;  // some below 0
  const auto scan = test::scan_of(volume);
  const auto found = data::conform(scan, {ConformMethod::Brainchop, {16, 16, 16}, 1}, 2);
  for (const float value : found.values) {
    CHECK(value == std::floor(value));
    CHECK((value >= 0 && value <= 255));
  }
  const auto scale = data::robust_scale(volume.values);
  const double middle = scale.factor * (volume.at(10, 10, 10) - scale.low);
  CHECK(found.at(8, 8, 8) == std::floor(std::min(middle, 255.0)));
}

TEST_CASE("masks: with brainchop the mask is on the image's grid") {
  const auto volume =
      test::grid_of<float>({24, 20, 22}, oblique(25, {1, 1.2, 0.9}), [](auto i, auto j, auto k) {
        return test::in_ball({i, j, k}, {12, 9, 11}, 5) ? 200 : 0;
      });
  const ConformTarget target{ConformMethod::Brainchop, {32, 32, 32}, 1};
  const auto scan = test::scan_of(volume, DType::U8);
  const auto image = data::conform(scan, target, 2);
  const auto labels = data::conform_mask(scan, scan, target, 2);
  CHECK(test::distance(image.affine, labels.affine) == 0);
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    if (image.values[i] == 200) CHECK(labels.values[i] == 1);
    if (labels.values[i] == 1) CHECK(image.values[i] > 0);
    inside += labels.values[i];
  }
  CHECK(inside > 300);
}

TEST_CASE("masks: another size or position is refused, rounded headers are not") {
  const auto image = test::scan_of(test::noise({8, 9, 10}, test::straight({1, 1, 2})));
  const auto mask_on = [&](const data::Shape3& shape, const data::Affine& affine,
                           ConformMethod method) {
    auto mask = test::scan_of(test::noise(shape, affine));
    mask.name = "lesion";
    return data::conform_mask(mask, image, {method, {8, 8, 8}, 1});
  };
  for (const auto method : {ConformMethod::ScipyZoom, ConformMethod::None}) {
    const auto other_size = test::refusal_of(ErrorKind::Input, [&] {
      mask_on({8, 9, 11}, test::straight({1, 1, 2}), method);
    });
    CHECK(test::contains(other_size, "'lesion' does not belong to the image 'scan'"));
    CHECK(test::contains(other_size, "got 8 x 9 x 11 voxels of 1 x 1 x 2 mm, expected 8 x 9 x 10"));
    test::refusal_of(ErrorKind::Input, [&] {
      mask_on({8, 9, 10}, test::straight({1, 1.1, 2}), method);
    });
    mask_on({8, 9, 10}, test::straight({1, 1.001, -2}), method);
    mask_on({10, 8, 9}, test::exchanged(test::straight({1, 1, 2}), {2, 0, 1}), method);
  }
  for (const auto method : {ConformMethod::NibabelConform, ConformMethod::Brainchop}) {
    const auto elsewhere = test::refusal_of(ErrorKind::Input, [&] {
      mask_on({8, 9, 10}, test::straight({1, 1, 2}, {0, -100, 0}), method);
    });
    CHECK(test::contains(elsewhere, "got y from -100 to -92 mm, expected some of 0 to 8 mm"));
    mask_on({5, 5, 5}, test::straight({2, 2, 2}, {1, 1, 1}), method);
  }
}

TEST_CASE("conform: the number of threads does not change a bit") {
  const auto scan = test::scan_of(test::noise({21, 18, 25}, oblique(20, {1.4, 0.8, -1.1})));
  for (const auto method : {ConformMethod::ScipyZoom, ConformMethod::NibabelConform,
                            ConformMethod::Brainchop, ConformMethod::None}) {
    const ConformTarget target{method, {24, 24, 24}, 1};
    const auto one = data::conform(scan, target, 1), many = data::conform(scan, target, 5);
    CHECK(one.values == many.values);
    CHECK(one.shape == many.shape);
  }
}

TEST_CASE("conform: impossible targets are usage errors") {
  const auto scan = row_scan({1, 2}, 1);
  const auto refused = [&](const ConformTarget& target) {
    return test::refusal_of(ErrorKind::Usage, [&] { data::conform(scan, target); });
  };
  CHECK(test::contains(refused({ConformMethod::ScipyZoom, {0, 1, 1}, 1}), "length of 0"));
  CHECK(test::contains(refused({ConformMethod::ScipyZoom, {1, 1, 1}, 0}), "got 0 mm"));
  CHECK(test::contains(refused({ConformMethod::ScipyZoom, {1, 1, 1}, {1, -2, 1}}), "got -2 mm"));
  refused({ConformMethod::NibabelConform, {1, 1, 1}, std::nan("")});
  refused({ConformMethod::NibabelConform, {1 << 20, 1 << 20, 1 << 20}, 1});
}

TEST_CASE("conform: methods are read as they are printed") {
  for (const auto method : {ConformMethod::ScipyZoom, ConformMethod::NibabelConform,
                            ConformMethod::Brainchop, ConformMethod::None}) {
    CHECK(data::parse_conform_method(data::to_string(method)) == method);
  }
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage, [] { data::parse_conform_method("nibabel_conforn"); }),
      "Did you mean 'nibabel_conform'"));
}

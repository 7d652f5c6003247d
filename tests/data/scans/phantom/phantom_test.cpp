// SPDX-License-Identifier: Apache-2.0
// Synthetic heads: reproducible, anatomically plausible, and not solvable by a threshold.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/data/scans/phantom/phantom.h"
#include "ubique/data/scans/phantom/phantom_geometry.h"
#include "ubique/data/scans/study/manifest.h"
#include "ubique/data/scans/volume/components.h"
#include "ubique/data/scans/volume/orientation.h"
#include "ubique/data/scans/volume/scan.h"

using namespace ubique;
namespace fs = std::filesystem;

namespace {

data::PhantomOptions small_heads() {
  data::PhantomOptions options;
  options.count = 3;
  options.size = 32;
  return options;
}

/// FNV-1a over the values, to compare bits between machines.
std::uint64_t hash_of(const data::Phantom& phantom) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  const auto add = [&](const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001B3ULL;
  };
  add(phantom.image.values.data(), phantom.image.values.size() * sizeof(float));
  add(phantom.mask.values.data(), phantom.mask.values.size());
  add(phantom.tissue.values.data(), phantom.tissue.values.size());
  add(phantom.image.affine.data(), sizeof phantom.image.affine);
  return hash;
}

double dice_above(const data::Phantom& phantom, float threshold) {
  double both = 0, either = 0;
  for (std::size_t i = 0; i < phantom.mask.values.size(); ++i) {
    const bool predicted = phantom.image.values[i] > threshold, lesion = phantom.mask.values[i] > 0;
    both += predicted && lesion ? 1 : 0;
    either += (predicted ? 1 : 0) + (lesion ? 1 : 0);
  }
  return 2 * both / std::max(either, 1.0);
}

/// Mean brightness of each tissue.
std::map<data::Tissue, double> brightness_of(const data::Phantom& phantom) {
  std::map<data::Tissue, double> sum, count;
  for (std::size_t i = 0; i < phantom.tissue.values.size(); ++i) {
    const auto tissue = static_cast<data::Tissue>(phantom.tissue.values[i]);
    sum[tissue] += phantom.image.values[i];
    ++count[tissue];
  }
  for (auto& [tissue, value] : sum) value /= count[tissue];
  return sum;
}

double share_of(const data::Phantom& phantom, data::Tissue tissue) {
  const auto count = std::ranges::count(phantom.tissue.values, static_cast<std::uint8_t>(tissue));
  return static_cast<double>(count) / static_cast<double>(phantom.tissue.values.size());
}

}  // namespace

TEST_CASE("phantom: the same seed gives the same bits, whatever the number of threads") {
  auto options = small_heads();
  const auto first = data::make_phantom(options, 1);
  CHECK(hash_of(first) == 0xa9591a9aff2119d5ULL);
  options.threads = 3;
  CHECK(hash_of(data::make_phantom(options, 1)) == hash_of(first));
  options.seed = 43;
  CHECK(hash_of(data::make_phantom(options, 1)) != hash_of(first));
  CHECK(hash_of(data::make_phantom(options, 2)) != hash_of(data::make_phantom(options, 1)));
}

TEST_CASE("phantom: no threshold separates lesions from the rest") {
  auto options = small_heads();
  options.size = 48;
  const int heads = 10;
  std::vector<data::Phantom> phantoms;
  for (int i = 0; i < heads; ++i) phantoms.push_back(data::make_phantom(options, i));
  double best = 0;
  for (float threshold = 100; threshold < 1300; threshold += 25) {
    double sum = 0;
    for (const auto& phantom : phantoms) sum += dice_above(phantom, threshold);
    best = std::max(best, sum / heads);
  }
  MESSAGE("Dice of the best threshold: ", best);  // about 0.35
  CHECK(best < 0.5);
  CHECK(best > 0.1);  // lesions are brighter on average
}

TEST_CASE("phantom: tissues have plausible proportions and intensities") {
  auto options = small_heads();
  options.size = 48;
  for (std::int64_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    options.contrast = data::Contrast::T2;
    const auto phantom = data::make_phantom(options, i);
    CHECK(share_of(phantom, data::Tissue::Background) > 0.3);
    for (const auto tissue : {data::Tissue::Scalp, data::Tissue::Skull, data::Tissue::Fluid,
                              data::Tissue::Grey, data::Tissue::White}) {
      CAPTURE(static_cast<int>(tissue));
      CHECK(share_of(phantom, tissue) > 0.02);
      CHECK(share_of(phantom, tissue) < 0.3);
    }
    auto t2 = brightness_of(phantom);
    CHECK(t2[data::Tissue::Fluid] > 0.85 * t2[data::Tissue::Lesion]);
    CHECK(t2[data::Tissue::Lesion] > t2[data::Tissue::Grey]);
    CHECK(t2[data::Tissue::Grey] > t2[data::Tissue::White]);
    CHECK(t2[data::Tissue::White] > t2[data::Tissue::Background]);
    options.contrast = data::Contrast::T1;
    auto t1 = brightness_of(data::make_phantom(options, i));
    CHECK(t1[data::Tissue::White] > t1[data::Tissue::Grey]);
    CHECK(t1[data::Tissue::Grey] > t1[data::Tissue::Lesion]);
    CHECK(t1[data::Tissue::Lesion] > 0.85 * t1[data::Tissue::Fluid]);
  }
}

TEST_CASE("phantom: lesions are one to five, of mixed size, in both protocols") {
  auto options = small_heads();
  std::set<std::string> acquisitions, orientations;
  std::set<std::int64_t> counts;
  std::int64_t least = 1 << 30, most = 0;
  for (std::int64_t i = 0; i < 24; ++i) {
    const auto phantom = data::make_phantom(options, i);
    const auto voxels = std::ranges::count(phantom.mask.values, 1);
    CHECK(voxels > 10);
    CHECK(phantom.lesions >= 1);
    CHECK(phantom.lesions <= 5);
    CHECK(data::count_components(phantom.mask) >= 1);
    CHECK(data::count_components(phantom.mask) <= 12);
    least = std::min<std::int64_t>(least, voxels);
    most = std::max<std::int64_t>(most, voxels);
    counts.insert(phantom.lesions);
    acquisitions.insert(phantom.acquisition);
    orientations.insert(data::axis_codes(phantom.image.affine));
    for (std::size_t v = 0; v < phantom.mask.values.size(); ++v) {
      const bool lesion = phantom.tissue.values[v] == static_cast<int>(data::Tissue::Lesion);
      REQUIRE((phantom.mask.values[v] == 1) == lesion);
    }
  }
  CHECK(counts.size() >= 4);
  CHECK(acquisitions == std::set<std::string>{"space_2x", "space_no_accel"});
  CHECK(orientations.size() >= 10);
  CHECK(most > 6 * least);
}

TEST_CASE("phantom: grids vary in spacing, or are plain cubes on request") {
  auto options = small_heads();
  bool thick = false;
  for (std::int64_t i = 0; i < 8; ++i) {
    const auto grid = data::make_phantom(options, i).image;
    const auto spacing = data::spacing_of(grid.affine);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double extent = spacing[axis] * static_cast<double>(grid.shape[axis]);
      CHECK(extent == doctest::Approx(192).epsilon(0.04));
    }
    const auto [low, high] = std::ranges::minmax(spacing);
    thick = thick || high > 1.25 * low;
  }
  CHECK(thick);
  options.varied_grids = false;
  const auto plain = data::make_phantom(options, 0).image;
  CHECK(plain.shape == data::Shape3{32, 32, 32});
  CHECK(data::axis_codes(plain.affine) == "RAS");
  CHECK(data::spacing_of(plain.affine)[1] == doctest::Approx(6));
}

TEST_CASE("phantom: a finer grid shows the same head") {
  auto options = small_heads();
  options.varied_grids = false;
  options.noise = 0;
  options.size = 32;
  const auto coarse = data::make_phantom(options, 0);
  options.size = 64;
  const auto fine = data::make_phantom(options, 0);
  std::int64_t same = 0;
  for (std::int64_t i = 0; i < 32; ++i) {
    for (std::int64_t j = 0; j < 32; ++j) {
      for (std::int64_t k = 0; k < 32; ++k) {
        std::int64_t lesion = 0;
        for (std::int64_t part = 0; part < 8; ++part) {
          lesion += fine.mask.at(2 * i + part / 4, 2 * j + part / 2 % 2, 2 * k + part % 2);
        }
        same += (lesion >= 4) == (coarse.mask.at(i, j, k) == 1) ? 1 : 0;
      }
    }
  }
  CHECK(same > 32 * 32 * 32 * 0.995);
  CHECK(coarse.lesions == fine.lesions);
}

TEST_CASE("phantom: options out of range are usage errors") {
  const auto refusal = [](auto change) {
    auto options = small_heads();
    change(options);
    return test::refusal_of(ErrorKind::Usage, [&] { data::make_phantom(options, 0); });
  };
  CHECK(test::contains(refusal([](auto& o) { o.size = 8; }), "expected 16 to 512"));
  CHECK(test::contains(refusal([](auto& o) { o.field_of_view = 20; }), "field of view of 20 mm"));
  CHECK(test::contains(refusal([](auto& o) { o.noise = -1; }), "noise -1"));
  CHECK(test::contains(test::refusal_of(ErrorKind::Usage, [] { data::parse_contrast("t3"); }),
                       "expected t2 or t1"));
}

TEST_CASE("phantom: a study is written, read back and extended") {
  const test::ScratchFolder folder;
  auto options = small_heads();
  options.count = 2;
  std::int64_t calls = 0;
  const auto cohort = data::write_phantoms(folder / "study", options, [&](auto done, auto total) {
    ++calls;
    CHECK(done == calls);
    CHECK(total == 2);
  });
  CHECK(calls == 2);
  const auto read = data::read_manifest(folder / "study/dataset_info.json");
  REQUIRE(read.subjects.size() == 2);
  const auto phantom = data::make_phantom(options, 1);
  const auto image = data::read_scan(read.subjects[1].image);
  const auto mask = data::read_scan(*read.subjects[1].mask);
  CHECK(read.subjects[1].id == phantom.id);
  CHECK(read.subjects[1].acquisition == phantom.acquisition);
  CHECK(read.subjects[1].lesion_voxels == std::ranges::count(phantom.mask.values, 1));
  CHECK(image.header.dtype == DType::I16);
  CHECK(image.header.scaled);
  CHECK(image.header.inter < 0);
  REQUIRE(image.volume.shape == phantom.image.shape);
  for (std::size_t i = 0; i < image.volume.values.size(); ++i) {
    const double error = image.volume.values[i] - phantom.image.values[i];
    REQUIRE(std::fabs(error) <= 0.51 * image.header.slope);
    REQUIRE(mask.volume.values[i] == phantom.mask.values[i]);
  }
  const auto tissue = data::read_manifest(folder / "study/dataset_info_tissue.json");
  const auto labels = data::read_scan(*tissue.subjects[0].mask).volume.values;
  CHECK(*std::ranges::max_element(labels) == static_cast<float>(data::Tissue::Lesion));

  const auto kept = fs::last_write_time(read.subjects[0].image);
  fs::remove(read.subjects[1].image);  // as if the run had been killed
  write_file(*read.subjects[1].mask, "cut");
  options.count = 3;
  const auto more = data::write_phantoms(folder / "study", options);
  CHECK(more.subjects.size() == 3);
  CHECK(fs::last_write_time(read.subjects[0].image) == kept);
  CHECK(data::read_scan(more.subjects[1].image).volume.values == image.volume.values);
  CHECK(data::read_manifest(folder / "study/dataset_info.json").subjects.size() == 3);
}

TEST_CASE("phantom: a folder of other heads or other files is left alone") {
  const test::ScratchFolder folder;
  auto options = small_heads();
  options.count = 1;
  options.size = 16;
  data::write_phantoms(folder / "study", options);
  options.seed = 7;
  const auto write = [&](const fs::path& where) {
    return test::refusal_of(ErrorKind::Usage, [&] { data::write_phantoms(where, options); });
  };
  CHECK(test::contains(write(folder / "study"), "holds heads of other options"));
  CHECK(test::contains(write(folder.path()), "is not empty"));
  options.count = 0;
  CHECK(test::contains(write(folder / "new"), "got 0 heads"));
  CHECK_FALSE(fs::exists(folder / "new"));
}

TEST_CASE("phantom: noise is smooth, varied and centred, rotations keep lengths") {
  const data::NoiseField field(Random(5), 10);
  double sum = 0, most = 0, step = 0;
  const int count = 4000;
  for (int i = 0; i < count; ++i) {
    const data::Point p{i * 1.7, i * 0.3, -i * 0.9};
    const double value = field.at(p);
    sum += value;
    most = std::max(most, std::fabs(value));
    step = std::max(step, std::fabs(field.at(p + data::Point{0.01, 0, 0}) - value));
  }
  CHECK(std::fabs(sum / count) < 0.03);
  CHECK(most > 0.7);
  CHECK(most < 1.35);
  CHECK(step < 0.01);
  data::Draws draws(Random(6));
  const data::Point p{1, 2, 3};
  for (int i = 0; i < 10; ++i) {
    CHECK(data::Rotation::any(draws)(p).length() == doctest::Approx(p.length()));
  }
}

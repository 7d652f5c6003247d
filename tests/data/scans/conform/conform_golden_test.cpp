// SPDX-License-Identifier: Apache-2.0
// Conforming, compared with volumes that arc-meshchop's own preprocessing (nibabel, SciPy) made
// from the same files.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/data/scans/grids.h"
#include "ubique/data/scans/conform/methods.h"
#include "ubique/data/scans/conform/normalize.h"
#include "ubique/data/scans/volume/orientation.h"
#include "ubique/io/tensors/safetensors_reader.h"

using namespace ubique;

namespace {

/// A scan, its mask, and the expected results.
struct Golden {
  explicit Golden(std::string_view name)
      : prefix((test::kGoldenScans / name).string()),
        image(data::read_scan(prefix + "_image.nii.gz")),
        mask(data::read_scan(prefix + "_mask.nii.gz")) {
    std::ifstream(prefix + ".json") >> facts;
  }

  std::string prefix;
  data::Scan image, mask;
  nlohmann::json facts;
};

template <typename T>
std::vector<T> tensor(const io::SafetensorsFile& file, const std::string& name) {
  const auto* found = file.find(name);
  REQUIRE(found != nullptr);
  std::vector<T> values(found->size() / sizeof(T));
  file.read(*found, std::as_writable_bytes(std::span(values)));
  return values;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return largest;
}

std::int64_t count_different(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

data::Affine affine_of(const nlohmann::json& json) { return json.get<data::Affine>(); }

data::LabelMap mask_of(const data::Scan& scan) {
  data::LabelMap labels{scan.volume.shape, scan.volume.affine, {}};
  for (const float value : scan.volume.values) labels.values.push_back(value > 0 ? 1 : 0);
  return data::to_canonical(labels);
}

constexpr std::string_view kScans[] = {"prep_a", "prep_b", "prep_c"};

}  // namespace

TEST_CASE("golden scans: canonical axes, scaling and masks are nibabel's, bit by bit") {
  if (test::golden_scans_missing()) return;
  for (const auto name : kScans) {
    CAPTURE(std::string(name));
    const Golden golden(name);
    const io::SafetensorsFile file(golden.prefix + "_canonical.safetensors");
    const auto canonical = data::to_canonical(golden.image.volume);
    CHECK(canonical.values == tensor<float>(file, "image"));
    CHECK(canonical.shape == golden.facts["canonical_shape"].get<data::Shape3>());
    CHECK(test::distance(canonical.affine, affine_of(golden.facts["canonical_affine"])) < 1e-9);
    CHECK(mask_of(golden.mask).values == tensor<std::uint8_t>(file, "mask"));
    std::string codes;
    for (const auto& code : golden.facts["file_axcodes"]) codes += code.get<std::string>();
    CHECK(data::axis_codes(golden.image.volume.affine) == codes);
  }
}

TEST_CASE("golden scans: scipy_zoom before normalisation, and its masks") {
  if (test::golden_scans_missing()) return;
  for (const auto name : kScans) {
    const Golden golden(name);
    const auto canonical = data::to_canonical(golden.image.volume);
    const auto labels = mask_of(golden.mask);
    for (const auto& [key, facts] : golden.facts["targets"].items()) {
      CAPTURE(std::string(name));
      CAPTURE(key);
      const io::SafetensorsFile file(golden.prefix + "_" + key + ".safetensors");
      const data::TargetGrid target{facts["target_shape"], facts["target_spacing"]};
      const auto zoomed = data::zoom_to(canonical, target, 2);
      const auto expected = tensor<float>(file, "scipy_zoom.image_before_norm");
      CHECK(largest_difference(zoomed.values, expected) < 2e-4);
      // The order of additions differs from SciPy's: the last bit may differ.
      CHECK(count_different(zoomed.values, expected) < data::voxel_count(target.shape) / 1000);
      CHECK(data::zoom_to(labels, target, 2).values ==
            tensor<std::uint8_t>(file, "scipy_zoom.mask"));
    }
  }
}

TEST_CASE("golden scans: nibabel_conform before normalisation, its grid and its masks") {
  if (test::golden_scans_missing()) return;
  int compared = 0;
  for (const auto name : kScans) {
    const Golden golden(name);
    for (const auto& [key, facts] : golden.facts["targets"].items()) {
      CAPTURE(std::string(name));
      CAPTURE(key);
      const io::SafetensorsFile file(golden.prefix + "_" + key + ".safetensors");
      const data::ConformTarget target{
          data::ConformMethod::NibabelConform, facts["target_shape"],
          facts["target_spacing"].get<std::array<double, 3>>()};  // of one target not the same
      const auto found = data::conform(golden.image, target, 2);
      const auto labels = data::conform_mask(golden.mask, golden.image, target, 2);
      CHECK(test::distance(found.affine, affine_of(facts["conform_affine"])) < 1e-9);
      CHECK(std::ranges::count(labels.values, 1) ==
            facts["mask_voxels"]["nibabel_conform"].get<std::int64_t>());
      const auto [low, high] = std::ranges::minmax(found.values);
      const auto range = facts["before_norm_minmax"]["nibabel_conform"];
      CHECK(low == doctest::Approx(range[0].get<double>()).epsilon(1e-5));
      CHECK(high == doctest::Approx(range[1].get<double>()).epsilon(1e-5));
      ++compared;
      if (file.find("nibabel_conform.mask") == nullptr) continue;
      const auto expected = tensor<float>(file, "nibabel_conform.image_before_norm");
      if (golden.image.stored_integers) {
        CHECK(count_different(found.values, expected) <= 3);  // halves, rounded either way
        CHECK(largest_difference(found.values, expected) <= 1);
      } else {
        CHECK(largest_difference(found.values, expected) < 1e-4);
      }
      CHECK(labels.values == tensor<std::uint8_t>(file, "nibabel_conform.mask"));
    }
  }
  CHECK(compared == 4);
}

TEST_CASE("golden scans: integers without scaling are distinguished from scaled ones") {
  if (test::golden_scans_missing()) return;
  CHECK_FALSE(Golden("prep_a").image.stored_integers);
  CHECK_FALSE(Golden("prep_b").image.stored_integers);
  CHECK(Golden("prep_c").image.stored_integers);
}

TEST_CASE("golden scans: conform, conform_mask and normalize together give the network's input") {
  if (test::golden_scans_missing()) return;
  const Golden golden("prep_a");
  const io::SafetensorsFile file(golden.prefix + "_48x48x48_1mm.safetensors");
  data::ConformTarget target{data::ConformMethod::ScipyZoom, {48, 48, 48}, 1};
  auto image = data::conform(golden.image, target, 2);
  data::normalize(image, data::Normalization::MinMax);
  CHECK(largest_difference(image.values, tensor<float>(file, "scipy_zoom.image")) < 1e-6);
  for (const auto method : {data::ConformMethod::ScipyZoom, data::ConformMethod::NibabelConform}) {
    target.method = method;
    const auto name = std::string(data::to_string(method));
    const auto labels = data::conform_mask(golden.mask, golden.image, target, 2);
    CHECK(labels.values == tensor<std::uint8_t>(file, name + ".mask"));
    const auto volume = data::conform(golden.image, target);
    CHECK(largest_difference(volume.values, tensor<float>(file, name + ".image_before_norm")) <
          1e-4);
    CHECK(test::distance(labels.affine, volume.affine) < 1e-12);
  }
}

TEST_CASE("golden scans: BrainChop's own scan is unchanged, and its quantiles are the known ones") {
  const auto path = test::kGoldenScans / ".." / ".." / "data" / "brainchop" / "t1_crop.nii.gz";
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: no ", path.string());
    return;
  }
  const auto scan = data::read_scan(path, -1, 2);
  auto cube = data::conform(scan, {data::ConformMethod::Brainchop, {256, 256, 256}, 1}, 2);
  CHECK(cube.values == scan.volume.values);
  CHECK(data::axis_codes(cube.affine) == "LIA");
  data::normalize(cube, data::Normalization::Quantile);  // 0 and 112, as the golden networks had it
  for (std::size_t i = 0; i < cube.values.size(); i += 997) {
    CHECK(cube.values[i] == scan.volume.values[i] / 112);
  }
}

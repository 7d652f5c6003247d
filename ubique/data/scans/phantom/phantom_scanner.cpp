// SPDX-License-Identifier: Apache-2.0
// Renders a head on a voxel grid: averages materials over each voxel, then adds bias and noise.
#include "ubique/data/scans/phantom/phantom_scanner.h"

#include <algorithm>
#include <cmath>

#include "ubique/base/parallel.h"

namespace ubique::data {
namespace {

using Brightness = std::array<double, kMaterials>;

enum ScanStream : std::uint64_t { kContrastDraws, kTextureField, kBiasField, kNoiseOne, kNoiseTwo };

/// Air, fat, muscle, bone, marrow, fluid, grey, white, stem, vitreous; fluid is 900 in T2.
Brightness brightness_of(Contrast contrast, Draws& draws) {
  Brightness values = contrast == Contrast::T2
                          ? Brightness{6, 470, 190, 50, 240, 900, 500, 365, 400, 940}
                          : Brightness{6, 860, 360, 60, 480, 170, 450, 660, 600, 150};
  for (std::size_t i = 1; i < values.size(); ++i) values[i] *= draws.around(0.06);
  return values;
}

Tissue tissue_of(Material material) {
  constexpr std::array<Tissue, kMaterials> kTissues = {
      Tissue::Background, Tissue::Scalp, Tissue::Scalp, Tissue::Skull, Tissue::Skull,
      Tissue::Fluid,      Tissue::Grey,  Tissue::White, Tissue::White, Tissue::Scalp};
  return kTissues[static_cast<std::size_t>(material)];
}

/// One voxel before bias and noise.
struct Voxel {
  double value = 0;
  std::array<int, kTissueClasses> votes{};

  Tissue winner() const {
    return static_cast<Tissue>(std::ranges::max_element(votes) - votes.begin());
  }
};

class Scanner {
 public:
  Scanner(const PhantomOptions& options, const Protocol& protocol, const ScanGrid& grid,
          const Head& head, const std::vector<Lesion>& lesions, const Random& random)
      : grid_(grid),
        head_(head),
        lesions_(lesions),
        texture_(random.fork(kTextureField), 11),
        bias_(random.fork(kBiasField), 170),
        noise_one_(random.fork(kNoiseOne)),
        noise_two_(random.fork(kNoiseTwo)),
        noise_(protocol.noise * options.noise) {
    Draws draws(random.fork(kContrastDraws));
    brightness_ = brightness_of(options.contrast, draws);
    bias_strength_ = options.bias * draws.between(0.12, 0.3);
    const double largest =
        std::max({grid.step[0].length(), grid.step[1].length(), grid.step[2].length()});
    parts_ = largest > 1.5 ? 2 : 1;  // supersample coarse voxels: partial volume
    margin_ = largest;
  }

  /// Planes [first, last) of the array's first axis.
  void scan(std::int64_t first, std::int64_t last, Phantom& out) const {
    for (auto i = first; i < last; ++i) {
      for (std::int64_t j = 0; j < grid_.shape[1]; ++j) {
        for (std::int64_t k = 0; k < grid_.shape[2]; ++k) scan_voxel(i, j, k, out);
      }
    }
  }

 private:
  void scan_voxel(std::int64_t i, std::int64_t j, std::int64_t k, Phantom& out) const {
    const auto index = (i * grid_.shape[1] + j) * grid_.shape[2] + k;
    const Point centre =
        grid_.at(static_cast<double>(i), static_cast<double>(j), static_cast<double>(k));
    double value = brightness_[0];
    if (!head_.is_outside(centre, margin_)) {
      const auto voxel = average(centre);
      const auto tissue = voxel.winner();
      out.tissue.at(i, j, k) = static_cast<std::uint8_t>(tissue);
      out.mask.at(i, j, k) = tissue == Tissue::Lesion ? 1 : 0;
      value = voxel.value * (1 + bias_strength_ * bias_.at(centre));
    }
    const auto number = static_cast<std::uint64_t>(index);
    if (noise_ > 0) {  // Rician: the magnitude of a complex signal
      const double real = value + noise_ * noise_one_.normal(number);
      const double imaginary = noise_ * noise_two_.normal(number);
      value = std::sqrt(real * real + imaginary * imaginary);
    }
    out.image.at(i, j, k) = static_cast<float>(value);
  }

  Voxel average(const Point& centre) const {
    Voxel voxel;
    const auto offset = [&](int part) { return (part + 0.5) / parts_ - 0.5; };
    for (int a = 0; a < parts_; ++a) {
      for (int b = 0; b < parts_; ++b) {
        for (int c = 0; c < parts_; ++c) {
          add(centre + grid_.step[0] * offset(a) + grid_.step[1] * offset(b) +
                  grid_.step[2] * offset(c),
              voxel);
        }
      }
    }
    voxel.value /= parts_ * parts_ * parts_;
    return voxel;
  }

  void add(const Point& p, Voxel& voxel) const {
    const auto point = head_.at(p);
    double value = brightness_[static_cast<std::size_t>(point.material)];
    auto tissue = tissue_of(point.material);
    if (tissue == Tissue::Background) {
      voxel.value += value;
      ++voxel.votes[0];
      return;
    }
    value *= 1 + 0.06 * texture_.at(p);
    if (point.is_brain) {
      for (const auto& lesion : lesions_) {
        const double share = lesion.share(p);
        if (share <= 0) continue;
        const double core = lesion_brightness(lesion, p);
        value += share * (core - value);
        if (share >= 0.5) tissue = Tissue::Lesion;
      }
    }
    voxel.value += value;
    ++voxel.votes[static_cast<std::size_t>(tissue)];
  }

  /// Between grey matter and fluid, so that no threshold separates lesions from the rest.
  double lesion_brightness(const Lesion& lesion, const Point& p) const {
    const double grey = brightness_[static_cast<std::size_t>(Material::Grey)];
    const double fluid = brightness_[static_cast<std::size_t>(Material::Fluid)];
    const double patchy = std::clamp(lesion.brightness() + 0.15 * texture_.at(p * 0.7), 0.0, 1.0);
    return grey + patchy * (fluid - grey);
  }

  const ScanGrid& grid_;
  const Head& head_;
  const std::vector<Lesion>& lesions_;
  NoiseField texture_, bias_;
  Random noise_one_, noise_two_;
  double noise_, bias_strength_ = 0, margin_ = 0;
  int parts_ = 1;
  Brightness brightness_{};
};

template <typename T>
Grid<T> blank_grid(const ScanGrid& grid) {
  return {grid.shape, grid.affine,
          std::vector<T>(static_cast<std::size_t>(voxel_count(grid.shape)))};
}

}  // namespace

void take_scan(const PhantomOptions& options, const Protocol& protocol, const ScanGrid& grid,
               const Head& head, const std::vector<Lesion>& lesions, const Random& random,
               Phantom& phantom) {
  phantom.image = blank_grid<float>(grid);
  phantom.mask = blank_grid<std::uint8_t>(grid);
  phantom.tissue = blank_grid<std::uint8_t>(grid);
  const Scanner scanner(options, protocol, grid, head, lesions, random);
  parallel_for(grid.shape[0], options.threads,
               [&](auto first, auto last) { scanner.scan(first, last, phantom); });
}

}  // namespace ubique::data

// SPDX-License-Identifier: Apache-2.0
// The Fourier transform of real signals whose length is a power of two: what spectrograms need.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace ubique::data {

class RealFft {
 public:
  /// Internal error unless `size` is a power of two from 4 on.
  explicit RealFft(std::size_t size);

  std::size_t size() const { return 2 * half_; }
  /// Bins 0 to size/2 of `size` values, without a scale factor. `out` holds size/2 + 1.
  void transform(std::span<const float> values, std::span<std::complex<float>> out);

 private:
  void transform_work();

  std::size_t half_;
  std::vector<std::size_t> reversed_;           // bit-reversed order of the first stage
  std::vector<std::complex<float>> factors_;    // exp(-2 pi i k / half) for k < half / 2
  std::vector<std::complex<float>> unfolding_;  // exp(-2 pi i k / size) for k <= half
  std::vector<std::complex<float>> work_;
};

}  // namespace ubique::data

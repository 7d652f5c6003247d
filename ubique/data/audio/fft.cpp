// SPDX-License-Identifier: Apache-2.0
// Even and odd values become the parts of complex numbers, which halves the length; a radix-2
// transform of those is then taken apart.
#include "ubique/data/audio/fft.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

using Complex = std::complex<float>;

Complex unit_root(std::size_t k, std::size_t count) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(count);
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

/// Written out: the operator of std::complex also handles infinities, which costs a branch.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

RealFft::RealFft(std::size_t size) : half_(size / 2) {
  check(size >= 4 && std::has_single_bit(size), ErrorKind::Internal,
        "[data.audio] a Fourier transform needs a power of two; got {}.", size);
  reversed_.resize(half_);
  const auto bits = std::countr_zero(half_);
  for (std::size_t i = 0; i < half_; ++i) {
    for (int b = 0; b < bits; ++b) reversed_[i] |= (i >> b & 1U) << (bits - 1 - b);
  }
  // One table for each stage, one after the other, so that every stage reads its factors in order.
  for (std::size_t length = 2; length <= half_; length *= 2) {
    for (std::size_t k = 0; k < length / 2; ++k) factors_.push_back(unit_root(k, length));
  }
  for (std::size_t k = 0; k <= half_; ++k) unfolding_.push_back(unit_root(k, size));
  work_.resize(half_);
}

void RealFft::transform_work() {
  const auto* factors = factors_.data();
  for (std::size_t length = 2; length <= half_; length *= 2) {
    const auto step = length / 2;
    for (std::size_t start = 0; start < half_; start += length) {
      auto* low = work_.data() + start;
      auto* high = low + step;
      for (std::size_t k = 0; k < step; ++k) {
        const auto turned = product(high[k], factors[k]);
        high[k] = low[k] - turned;
        low[k] += turned;
      }
    }
    factors += step;
  }
}

void RealFft::transform(std::span<const float> values, std::span<Complex> out) {
  for (std::size_t i = 0; i < half_; ++i) {
    const auto from = reversed_[i];
    work_[i] = {values[2 * from], values[2 * from + 1]};
  }
  transform_work();
  for (std::size_t k = 0; k <= half_; ++k) {
    const auto here = work_[k % half_];
    const auto mirrored = std::conj(work_[(half_ - k) % half_]);
    const auto even = (here + mirrored) * 0.5F;
    const auto odd = (here - mirrored) * 0.5F;  // times i
    out[k] = even + product(unfolding_[k], {odd.imag(), -odd.real()});
  }
}

}  // namespace ubique::data

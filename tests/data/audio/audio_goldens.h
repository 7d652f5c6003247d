// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of this folder: tones, and tensors of golden files.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "tests/shared.h"
#include "ubique/io/audio/audio.h"
#include "ubique/io/tensors/safetensors_reader.h"

namespace ubique::test {

/// A sine on all channels.
inline io::Audio sine(int rate, int channels, double hz, double amplitude, double seconds) {
  io::Audio audio{rate, channels, {}};
  const auto frames = std::lround(rate * seconds);
  for (int c = 0; c < channels; ++c) {
    for (long t = 0; t < frames; ++t) {
      audio.samples.push_back(static_cast<float>(
          amplitude * std::sin(2 * std::numbers::pi * hz * static_cast<double>(t) / rate)));
    }
  }
  return audio;
}

template <typename T>
std::vector<T> audio_golden(const io::SafetensorsFile& file, const std::string& name) {
  const auto* found = file.find(name);
  REQUIRE(found != nullptr);
  std::vector<T> values(found->size() / sizeof(T));
  file.read(*found, std::as_writable_bytes(std::span(values)));
  return values;
}

/// Largest difference to the golden values, from `at` on.
inline double farthest(std::span<const float> got, const std::vector<float>& golden,
                       std::size_t at = 0) {
  REQUIRE(golden.size() >= at + got.size());
  double largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(got[i]) - golden[at + i]));
  }
  return largest;
}

}  // namespace ubique::test

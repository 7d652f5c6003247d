// SPDX-License-Identifier: Apache-2.0
// Sound files: length, layout, how loud.
#include <fmt/format.h>

#include <cmath>

#include "ubique/cli/inspect/kinds.h"
#include "ubique/data/audio/loudness.h"
#include "ubique/io/audio/audio_file.h"

namespace ubique::cli {

void show_sound(const Sight& sight, Finding& finding) {
  const auto audio = io::read_audio(sight.path);
  finding.facts.emplace_back("seconds", std::round(audio.seconds() * 1000) / 1000);
  finding.facts.emplace_back("rate", fmt::format("{} Hz", audio.rate));
  finding.facts.emplace_back("channels", audio.channels);
  const auto loudness = data::integrated_loudness(audio);
  finding.facts.emplace_back("loudness", std::isfinite(loudness)
                                             ? fmt::format("{:.1f} LUFS", loudness)
                                             : std::string("silence, or too short to tell"));
  const auto peak = data::decibels(data::sample_peak(audio));
  if (std::isfinite(peak)) finding.facts.emplace_back("peak", fmt::format("{:.1f} dBFS", peak));
}

}  // namespace ubique::cli

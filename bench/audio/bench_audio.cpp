// SPDX-License-Identifier: Apache-2.0
// One core, one minute of stereo: resampling, mel spectrogram, loudness, writing and reading.
// bench_audio
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>

#include "ubique/data/audio/loudness.h"
#include "ubique/data/audio/mel.h"
#include "ubique/data/audio/resample.h"
#include "ubique/io/audio/compressed.h"
#include "ubique/io/audio/wav.h"

using namespace ubique;

namespace {

void report(const char* name, const std::function<void()>& work) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::clock();  // of the processor: other work on the machine does not count
    work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  std::printf("%-32s %8.1f ms\n", name, 1000 * best);
}

io::Audio noise(int rate, double seconds) {
  io::Audio audio{rate, 2, {}};
  std::uint32_t state = 1;
  for (int i = 0; i < static_cast<int>(2 * rate * seconds); ++i) {
    state = state * 1'664'525U + 1'013'904'223U;
    audio.samples.push_back(static_cast<float>(state >> 8U) / 8'388'608.F - 1.F);
  }
  return audio;
}

}  // namespace

int main() {
  std::printf("a minute of stereo, seconds of processor, best of five\n");
  const auto audio48 = noise(48'000, 60), audio44 = noise(44'100, 60);
  report("resample 48 -> 44.1 kHz", [&] { (void)data::resampled(audio48, 44'100); });
  report("resample 44.1 -> 48 kHz", [&] { (void)data::resampled(audio44, 48'000); });
  data::MelSpectrogram mel;
  report("log-mel 128 at 44.1 kHz", [&] {
    (void)mel.log_mel(audio44.channel(0));
    (void)mel.log_mel(audio44.channel(1));
  });
  report("integrated loudness", [&] { (void)data::integrated_loudness(audio44); });
  report("true peak", [&] { (void)data::true_peak(audio44); });
  std::string bytes;
  report("write WAV, 16 bits", [&] { bytes = io::wav_bytes(audio44, io::SampleFormat::Int16); });
  report("read WAV, 16 bits",
         [&] { (void)io::parse_wav(std::as_bytes(std::span(bytes)), "bench"); });
  if (io::can_write(io::Compressed::Flac)) {
    report("write FLAC, 16 bits", [&] {
      bytes = io::compressed_bytes(audio44, io::Compressed::Flac, io::SampleFormat::Int16, 1);
    });
    report("read FLAC, 16 bits",
           [&] { (void)io::parse_compressed(std::as_bytes(std::span(bytes)), "bench"); });
  }
  return 0;
}

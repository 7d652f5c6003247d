// SPDX-License-Identifier: Apache-2.0
// One scan from file to network input, timed step by step; the result as raw f32 for comparison.
// bench/peers/preprocess.py runs it in turns with nibabel and SciPy doing the same.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <span>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/data/scans/conform/conform.h"
#include "ubique/data/scans/conform/native.h"
#include "ubique/data/scans/conform/normalize.h"
#include "ubique/data/scans/volume/components.h"

using namespace ubique;

namespace {

/// Seconds since the last question.
class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> passed = now - std::exchange(last_, now);
    return passed.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

data::LabelMap bright_part(const data::Volume& volume) {
  data::LabelMap labels{volume.shape, volume.affine, {}};
  for (const float value : volume.values) labels.values.push_back(value > 0.5F ? 1 : 0);
  return labels;
}

void run(const std::string& path, int threads, const std::string& out) {
  Stopwatch watch;
  const auto processor = std::clock();
  auto scan = data::read_scan(path, -1, threads, data::ScanAxes::Canonical);
  const double read = watch.lap();
  auto volume = data::conform(scan, {}, threads);
  const double conform = watch.lap();
  data::normalize(volume, data::Normalization::MinMax, 0.05, 0.95, threads);
  const double normalize = watch.lap();
  const double cpu = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;

  auto labels = bright_part(volume);
  scan.volume.shape = scan.header.shape;  // the labels go back to the file's own axes
  scan.volume.affine = scan.header.affine;
  watch.lap();
  const auto native = data::to_native(labels, scan, threads);
  const double back = watch.lap();
  const auto islands = data::keep_components(labels, {data::ComponentPolicy::Kind::Largest, 0});
  const double components = watch.lap();
  fmt::print(
      "{{\"read\": {:.4f}, \"conform\": {:.4f}, \"normalize\": {:.4f}, \"total\": {:.4f}, "
      "\"cpu\": {:.4f}, \"to_native\": {:.4f}, \"components\": {:.4f}, \"islands_removed\": {}}}\n",
      read, conform, normalize, read + conform + normalize, cpu, back, components, islands);
  if (!out.empty()) {
    AtomicFile file(out);
    file.write(std::as_bytes(std::span(volume.values)));
    file.commit();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "bench_preprocess SCAN THREADS [OUT]\n");
    return 2;
  }
  try {
    run(argv[1], std::atoi(argv[2]), argc > 3 ? argv[3] : "");
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(exit_code(error.kind()));
  }
  return 0;
}

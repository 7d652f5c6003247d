// SPDX-License-Identifier: Apache-2.0
// MeshNet on the CPU in f32: seconds of every inference (labels of a volume) or training step
// (forward, loss, backward), one JSON line each, with the process's peak memory so far.
//   bench_meshnet_cpu run|train CHANNELS SIZE [REPEATS] [THREADS]
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ubique/models/meshnet/net/init.h"
#include "ubique/models/meshnet/net/loss.h"
#include "ubique/models/meshnet/net/network.h"
#include "ubique/models/meshnet/use/segmenter.h"

namespace {

using namespace ubique;

struct CpuCase {
  std::string mode;
  std::int64_t channels = 5, size = 64;
  int repeats = 1, threads = 2;
};

double peak_gib() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<double>(usage.ru_maxrss) / (1 << 30);
#else
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);
#endif
}

template <typename Work>
void time_each(const CpuCase& wanted, const Work& work) {
  for (int i = 0; i < wanted.repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    std::printf(
        "{\"program\": \"ubique\", \"mode\": \"%s\", \"channels\": %ld, \"size\": %ld, "
        "\"seconds\": %.3f, \"peak_gib\": %.2f}\n",
        wanted.mode.c_str(), static_cast<long>(wanted.channels), static_cast<long>(wanted.size),
        taken.count(), peak_gib());
    std::fflush(stdout);
  }
}

void run(const CpuCase& wanted) {
  at::set_num_threads(wanted.threads);
  meshnet::MeshNetConfig config;
  config.channels = wanted.channels;
  meshnet::MeshNet network(config);
  meshnet::initialize(network, Random(1));
  const auto size = wanted.size;
  const auto image = at::rand({1, 1, size, size, size}, at::TensorOptions(at::kFloat));
  if (wanted.mode == "run") {
    meshnet::Segmenter segmenter({config, meshnet::state_of(network), "bench"});
    time_each(wanted, [&] { segmenter.labels(image); });
    return;
  }
  const auto mask = at::zeros({1, size, size, size}, at::kByte);
  network.train();
  time_each(wanted, [&] {
    network.zero_grad();
    meshnet::segmentation_loss(network.forward(image), mask, {}).backward();
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("bench_meshnet_cpu run|train CHANNELS SIZE [REPEATS] [THREADS]\n", stderr);
    return 2;
  }
  CpuCase wanted{argv[1], std::atoll(argv[2]), std::atoll(argv[3])};
  if (argc > 4) wanted.repeats = std::atoi(argv[4]);
  if (argc > 5) wanted.threads = std::atoi(argv[5]);
  try {
    run(wanted);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_meshnet_cpu: %s\n", error.what());
    return 1;
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Sets torch's global context; keeps the announced memory cap.
#include "ubique/device/numerics.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <atomic>
#include <cstdlib>

#include "ubique/device/host.h"
#include "ubique/device/threads/load_aware_threads.h"

namespace ubique::device {
namespace {

std::atomic<std::int64_t> memory_cap = 0;

}  // namespace

void apply_numerics(c10::Device device, const NumericsOptions& options) {
  auto& context = at::globalContext();
  context.setFloat32MatmulPrecision(options.tf32 ? "high" : "highest");
  context.setAllowTF32CuDNN(options.tf32);
  context.setBenchmarkCuDNN(options.autotune);
  // CPU ops are deterministic anyway, and Metal has no such switch.
  const bool strict = options.deterministic && device.is_cuda();
  context.setDeterministicAlgorithms(strict, /*warn_only=*/false);
  context.setDeterministicCuDNN(strict);
  context.setDeterministicFillUninitializedMemory(false);  // we never read uninitialised memory
  if (options.threads > 0) at::set_num_threads(options.threads);
  set_threads_follow_load(options.threads_follow_load ? host().cores : 0);
}

void announce_determinism() { ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*replace=*/0); }

void announce_memory_cap(std::int64_t bytes) { memory_cap = bytes; }
std::int64_t announced_memory_cap() { return memory_cap; }

}  // namespace ubique::device

// SPDX-License-Identifier: Apache-2.0
// Uses LibTorch's at::cuda::CUDAGraph, which keeps a graph's memory private. Its header needs
// CUDA's headers, and its library is loaded, not linked: six functions are looked up by their
// mangled names.
#include "graph.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <utility>

#include "ubique/base/terminal/log.h"
#include "ubique/device/runtime.h"

namespace ubique::backend::cuda {
namespace {

constexpr int kWarmupRuns = 3;
constexpr int kThreadLocal = 1;  // cudaStreamCaptureModeThreadLocal: other threads may allocate

using PoolId = std::pair<unsigned long long, unsigned long long>;

struct GraphFunctions {
  void (*construct)(void* graph, bool keep) = find<void(void*, bool)>("_ZN2at4cuda9CUDAGraphC1Eb");
  void (*destroy)(void* graph) = find<void(void*)>("_ZN2at4cuda9CUDAGraphD1Ev");
  void (*begin)(void* graph, PoolId pool, int mode) = find<void(void*, PoolId, int)>(
      "_ZN2at4cuda9CUDAGraph13capture_beginESt4pairIyyE21cudaStreamCaptureMode");
  void (*end)(void* graph) = find<void(void*)>("_ZN2at4cuda9CUDAGraph11capture_endEv");
  void (*replay)(void* graph) = find<void(void*)>("_ZN2at4cuda9CUDAGraph6replayEv");
  PoolId (*pool)(void* graph) = find<PoolId(void*)>("_ZN2at4cuda9CUDAGraph4poolEv");

  bool complete() const { return construct && destroy && begin && end && replay && pool; }

 private:
  template <typename Function>
  static Function* find(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  }
};

const GraphFunctions& functions() {
  static const GraphFunctions found;
  return found;
}

class CudaGraph final : public device::Recording {
 public:
  /// `beside`: a graph whose memory it shares, or null. The allocator gives freed memory again only
  /// to work of the same stream.
  CudaGraph(c10::Device device, const CudaGraph* beside)
      : stream_(beside != nullptr ? beside->stream_
                                  : c10::impl::VirtualGuardImpl(device.type())
                                        .getStreamFromGlobalPool(device, false)),
        shared_(beside != nullptr ? beside->pool() : PoolId{0, 0}) {
    functions().construct(memory_.data(), false);
  }
  ~CudaGraph() override { functions().destroy(memory_.data()); }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void capture(const std::function<void()>& work) {
    const device::InRecordingPhase phase(device::RecordingPhase::Capture);
    functions().begin(memory_.data(), shared_, kThreadLocal);
    try {
      work();
    } catch (...) {
      try {
        functions().end(memory_.data());  // the stream must not stay in capture
      } catch (const c10::Error&) {       // the first error is the one to report
      }
      throw;
    }
    functions().end(memory_.data());
  }
  void replay() override { functions().replay(memory_.data()); }
  c10::Stream stream() const { return stream_; }

 private:
  PoolId pool() const { return functions().pool(memory_.data()); }

  c10::Stream stream_;  // that it is recorded on: the default stream cannot be
  PoolId shared_;
  // Storage for the CUDAGraph object, which has about 200 bytes.
  alignas(std::max_align_t) mutable std::array<std::byte, 4096> memory_{};
};

void rehearse(c10::Device device, const std::function<void()>& work) {
  const device::InRecordingPhase phase(device::RecordingPhase::Rehearsal);
  for (int i = 0; i < kWarmupRuns; ++i) work();
  device::synchronize(device);
}

}  // namespace

std::unique_ptr<device::Recording> record(c10::Device device, const std::string& name,
                                          const std::function<void()>& work,
                                          const device::Recording* beside) {
  if (!functions().complete()) {
    log::warn_once("cuda.graph",
                   "[cuda.graph] this LibTorch has other functions for CUDA graphs than we know: "
                   "kernels are launched one by one.");
    return nullptr;
  }
  device::synchronize(device);
  auto graph = std::make_unique<CudaGraph>(device, dynamic_cast<const CudaGraph*>(beside));
  const c10::StreamGuard aside(graph->stream());
  try {
    rehearse(device, work);
    // The graph allocates from its own pool, which cannot reuse the memory of the warm-up runs.
    device::empty_cache(device);
    graph->capture(work);
    device::synchronize(device);
    return graph;
  } catch (const c10::Error& error) {
    if (device::is_out_of_memory(error)) throw;
    const std::string message = error.what_without_backtrace();  // advice for debugging follows
    log::warn_once("cuda.graph " + name,
                   fmt::format("[cuda.graph] {} cannot be recorded, so its kernels are launched "
                               "one by one: {}",
                               name, message.substr(0, message.find('\n'))));
    return nullptr;
  }
}

}  // namespace ubique::backend::cuda

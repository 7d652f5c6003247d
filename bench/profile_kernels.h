// SPDX-License-Identifier: Apache-2.0
// What a device itself spent on one piece of work, kernel by kernel, also inside a recording
// (LibTorch's profiler, which asks the vendor's), as a trace that Chrome and Perfetto show.
#pragma once

#include <c10/core/Device.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <set>
#include <string>

#include "ubique/device/runtime.h"

namespace ubique::bench {

template <typename Work>
void trace_kernels(const Work& work, c10::Device device, const std::string& file) {
  using namespace torch::profiler::impl;
  const ProfilerConfig config(ProfilerState::KINETO);
  const std::set<ActivityType> activities = {ActivityType::CPU, ActivityType::CUDA};
  torch::autograd::profiler::prepareProfiler(config, activities);
  torch::autograd::profiler::enableProfiler(config, activities);
  work();
  device::synchronize(device);
  torch::autograd::profiler::disableProfiler()->save(file);
}

}  // namespace ubique::bench

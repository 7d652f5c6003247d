// SPDX-License-Identifier: Apache-2.0
// Where a device's time goes, without a vendor's profiler: waits for the device around every ATen
// op and adds up what each took, less what was called inside it.
#pragma once

#include <ATen/record_function.h>
#include <c10/core/Device.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "ubique/device/runtime.h"

namespace ubique::bench {

class OpProfile {
 public:
  explicit OpProfile(c10::Device device) : device_(device) { current() = this; }

  /// Profiles what `work` does on this thread and on autograd's.
  template <typename Work>
  void watch(const Work& work) {
    const auto handle =
        at::addGlobalCallback(at::RecordFunctionCallback(&OpProfile::enter, &OpProfile::leave)
                                  .needsInputs(true)
                                  .scopes({at::RecordScope::FUNCTION}));
    work();
    device::synchronize(device_);
    at::removeCallback(handle);
  }

  void print(std::size_t rows) const {
    std::vector<std::pair<double, std::string>> sorted;
    double total = 0;
    for (const auto& [name, cost] : costs_) {
      total += cost.ms;
      sorted.emplace_back(cost.ms, std::to_string(cost.calls) + " x " + name);
    }
    std::sort(sorted.rbegin(), sorted.rend());
    std::fprintf(stderr, "%9.3f ms in all\n", total);
    for (std::size_t i = 0; i < std::min(rows, sorted.size()); ++i) {
      std::fprintf(stderr, "%9.3f ms %s\n", sorted[i].first, sorted[i].second.c_str());
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Cost {
    double ms = 0;
    int calls = 0;
  };
  struct Open : at::ObserverContext {
    std::string name;
    Clock::time_point start;
    double inside_ms = 0;
    Open* outer = nullptr;
  };

  static OpProfile*& current() {
    static OpProfile* profile = nullptr;
    return profile;
  }
  static Open*& innermost() {
    thread_local Open* open = nullptr;
    return open;
  }

  static std::string describe(const at::RecordFunction& function) {
    std::string text = function.name();
    for (const auto& input : function.inputs()) {
      if (!input.isTensor() || !input.toTensor().defined()) continue;
      text += " [";
      for (const auto extent : input.toTensor().sizes()) text += std::to_string(extent) + ",";
      const bool last = input.toTensor().is_contiguous(at::MemoryFormat::ChannelsLast3d);
      text.back() = ']';
      if (last) text += "L";
    }
    return text.substr(0, 170);
  }

  static std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& function) {
    auto open = std::make_unique<Open>();
    open->name = describe(function);
    open->outer = innermost();
    innermost() = open.get();
    device::synchronize(current()->device_);
    open->start = Clock::now();
    return open;
  }

  static void leave(const at::RecordFunction&, at::ObserverContext* context) {
    device::synchronize(current()->device_);
    auto* open = static_cast<Open*>(context);
    const auto ms = std::chrono::duration<double, std::milli>(Clock::now() - open->start).count();
    innermost() = open->outer;
    if (open->outer != nullptr) open->outer->inside_ms += ms;
    auto& cost = current()->costs_[open->name];
    cost.ms += ms - open->inside_ms;
    ++cost.calls;
  }

  c10::Device device_;
  std::map<std::string, Cost> costs_;
};

}  // namespace ubique::bench

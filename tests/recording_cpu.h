// SPDX-License-Identifier: Apache-2.0
// A CPU that records, as CUDA does, by doing the work once more: what rehearsals must not leave
// behind can be seen without a card.
#pragma once

#include <c10/util/Exception.h>

#include <memory>
#include <utility>

#include "ubique/device/backend.h"

namespace ubique::test {

class RecordingCpu final : public device::Backend {
 public:
  std::string name() const override { return "recording-cpu"; }
  device::Kind kind() const override { return device::Kind::Cpu; }
  int auto_order() const override { return 0; }
  device::Detection detect() override { return {{}, "for tests"}; }
  c10::Device torch_device(int) const override { return c10::kCPU; }

  std::unique_ptr<device::Recording> record(c10::Device, const std::string&,
                                            const std::function<void()>& work) override {
    if (!records) return nullptr;
    for (int rehearsal = 0; rehearsal < 3; ++rehearsal) work();
    if (out_of_memory-- > 0) TORCH_CHECK_WITH(OutOfMemoryError, false, "no room for a recording");
    return std::make_unique<Again>(work);
  }

  static inline bool records = false;
  static inline int out_of_memory = 0;  ///< recordings to come that find no room
  static inline int replays = 0;

 private:
  struct Again final : device::Recording {
    explicit Again(std::function<void()> work) : work(std::move(work)) {}
    void replay() override {
      ++replays;
      work();
    }
    std::function<void()> work;
  };
};

/// While it lives, the CPU records.
class CpuRecords {
 public:
  explicit CpuRecords(int out_of_memory = 0) {
    static const bool registered = [] {
      device::register_backend(std::make_unique<RecordingCpu>());
      return true;
    }();
    RecordingCpu::records = registered;
    RecordingCpu::out_of_memory = out_of_memory;
    RecordingCpu::replays = 0;
  }
  ~CpuRecords() { RecordingCpu::records = false; }
  CpuRecords(const CpuRecords&) = delete;
  CpuRecords& operator=(const CpuRecords&) = delete;

  int replays() const { return RecordingCpu::replays; }
};

}  // namespace ubique::test

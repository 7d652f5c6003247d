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
                                            const std::function<void()>& work,
                                            const device::Recording* beside) override {
    if (!records) return nullptr;
    try {
      {
        const device::InRecordingPhase phase(device::RecordingPhase::Rehearsal);
        for (int rehearsal = 0; rehearsal < 2; ++rehearsal) work();
      }
      const device::InRecordingPhase phase(device::RecordingPhase::Capture);
      work();
    } catch (const c10::Error& error) {  // as the backend for CUDA does
      if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) throw;
      return nullptr;
    }
    if (room-- == 0) TORCH_CHECK_WITH(OutOfMemoryError, false, "no room for a recording");
    if (beside != nullptr) ++shared;
    return std::make_unique<Again>(work);
  }

  static inline bool records = false;
  static inline int room = -1;  ///< recordings until one finds no room; below 0 = all do
  static inline int replays = 0, shared = 0;

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
  explicit CpuRecords(int room = -1) {
    static const bool registered = [] {
      device::register_backend(std::make_unique<RecordingCpu>());
      return true;
    }();
    RecordingCpu::records = registered;
    RecordingCpu::room = room;
    RecordingCpu::replays = RecordingCpu::shared = 0;
  }
  ~CpuRecords() { RecordingCpu::records = false; }
  CpuRecords(const CpuRecords&) = delete;
  CpuRecords& operator=(const CpuRecords&) = delete;

  int replays() const { return RecordingCpu::replays; }
  int shared() const { return RecordingCpu::shared; }  ///< recordings beside another
};

}  // namespace ubique::test

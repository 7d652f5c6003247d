// SPDX-License-Identifier: Apache-2.0
// The device's memory: host memory that is counted, limited and cached like that of a real device.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Storage.h>

#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace ubique::backend::sham {

inline c10::Device the_device() { return {c10::DeviceType::MPS, 0}; }

/// Throws for dtypes that the device does not support.
void refuse_dtype(c10::ScalarType dtype);
/// Throws for a buffer at or above max_buffer, before anything is allocated.
void refuse_large_buffer(std::int64_t bytes);

class Allocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* destination, const void* source, std::size_t bytes) const override;

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t pool = {0, 0}) override;
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override;
  void resetAccumulatedStats(c10::DeviceIndex device) override;
  void resetPeakStats(c10::DeviceIndex device) override;
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex device) override;

  /// Turns memory that a CPU kernel filled into device memory without a copy; counted from now on.
  /// The result keeps `host` alive.
  c10::DataPtr adopt_data(const c10::Storage& host);
  c10::Storage adopt(const c10::Storage& host);

  std::size_t allocated_bytes() const;
  std::size_t reserved_bytes() const;
  std::size_t total_bytes() const;        ///< the configured memory, or this machine's
  std::size_t recommended_bytes() const;  ///< three quarters of it, as Apple's figure roughly is
  void set_fraction(double fraction);     ///< of the recommended size; 0 = no limit but the total

 private:
  struct Block {
    std::size_t requested, reserved;
  };

  static void release(void* pointer);
  static void release_adopted(void* context);
  void* take_cached(std::size_t reserved, Block& block);
  void reserve(std::size_t bytes, std::size_t requested);
  void count_in(std::size_t requested);
  void count_out(std::size_t requested);
  void empty_cache_locked();
  std::size_t limit() const;
  std::size_t allocated_locked() const;
  std::size_t reserved_locked() const;

  mutable std::mutex mutex_;
  std::unordered_map<void*, Block> live_;
  std::multimap<std::size_t, void*> cached_;
  c10::CachingDeviceAllocator::DeviceStats stats_;
  double fraction_ = 0;
};

Allocator& allocator();
void install_allocator();

}  // namespace ubique::backend::sham

// SPDX-License-Identifier: Apache-2.0
// Counting, limiting and caching of the device's memory.
#include "allocator.h"

#include <c10/core/impl/alloc_cpu.h>

#include <cstring>

#include "settings.h"
#include "ubique/base/text/text.h"
#include "ubique/device/host.h"

namespace ubique::backend::sham {
namespace {

constexpr std::size_t kGranule = 512;  // bytes; blocks are multiples of it
constexpr auto kAggregate = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

std::string human_size(std::size_t bytes) { return human_bytes(static_cast<std::int64_t>(bytes)); }

struct Adopted {
  c10::Storage host;
  std::size_t bytes;
};

template <typename Change>
void for_each_stat(c10::CachingDeviceAllocator::DeviceStats& stats, Change change) {
  for (auto* array : {&stats.allocation, &stats.segment, &stats.active, &stats.allocated_bytes,
                      &stats.reserved_bytes, &stats.active_bytes, &stats.requested_bytes}) {
    change((*array)[kAggregate]);
  }
}

}  // namespace

void refuse_dtype(c10::ScalarType dtype) {
  TORCH_CHECK_TYPE(dtype != c10::ScalarType::Double || settings().is_wrong("float64_silent"),
                   "MPS has no float64 (", UBIQUE_BACKEND_NAME,
                   " plays a Metal device). Use float32, or compute this part on the CPU.");
  TORCH_CHECK_TYPE(!c10::isComplexType(dtype), "MPS refuses ", dtype, " (", UBIQUE_BACKEND_NAME,
                   "). Compute complex parts on the CPU.");
  TORCH_CHECK_TYPE(settings().refused_dtypes.count(dtype) == 0, "MPS refuses ", dtype, " (",
                   UBIQUE_BACKEND_NAME, " was told so by ", settings_variable(), ").");
}

void refuse_large_buffer(std::int64_t bytes) {
  TORCH_CHECK(bytes < settings().max_buffer, "Invalid buffer size: ", human_bytes(bytes), " (",
              UBIQUE_BACKEND_NAME, " takes buffers below ", human_bytes(settings().max_buffer),
              "). Split the tensor.");
}

c10::DataPtr Allocator::allocate(std::size_t bytes) {
  if (bytes == 0) return {nullptr, the_device()};
  refuse_large_buffer(static_cast<std::int64_t>(bytes));
  Block block{bytes, (bytes + kGranule - 1) / kGranule * kGranule};
  const std::lock_guard lock(mutex_);
  void* pointer = take_cached(block.reserved, block);
  if (pointer == nullptr) {
    reserve(block.reserved, bytes);
    pointer = c10::alloc_cpu(block.reserved);
    ++stats_.num_device_alloc;
    stats_.segment[kAggregate].increase(1);
    stats_.reserved_bytes[kAggregate].increase(block.reserved);
  }
  live_.emplace(pointer, block);
  count_in(bytes);
  return {pointer, pointer, &release, the_device()};
}

void* Allocator::take_cached(std::size_t reserved, Block& block) {
  const auto found = cached_.lower_bound(reserved);
  if (found == cached_.end() || found->first > reserved + reserved / 8) return nullptr;
  block.reserved = found->first;
  void* pointer = found->second;
  cached_.erase(found);
  return pointer;
}

void Allocator::reserve(std::size_t bytes, std::size_t requested) {
  const auto fits = [&] { return reserved_locked() + bytes <= limit(); };
  if (fits()) return;
  if (!cached_.empty()) {
    ++stats_.num_alloc_retries;
    empty_cache_locked();
    if (fits()) return;
  }
  ++stats_.num_ooms;
  TORCH_CHECK_WITH(OutOfMemoryError, false,
                   "MPS backend out of memory (allocated: ", human_size(allocated_locked()),
                   ", limit: ", human_size(limit()), "). Tried to allocate ", human_size(requested),
                   " on ", UBIQUE_BACKEND_NAME, ".");
}

void Allocator::release(void* pointer) {
  auto& self = allocator();
  const std::lock_guard lock(self.mutex_);
  const auto found = self.live_.find(pointer);
  if (found == self.live_.end()) return;
  self.count_out(found->second.requested);
  self.cached_.emplace(found->second.reserved, pointer);
  self.live_.erase(found);
}

c10::DataPtr Allocator::adopt_data(const c10::Storage& host) {
  const auto bytes = host.nbytes();
  if (bytes == 0) return {nullptr, the_device()};
  refuse_large_buffer(static_cast<std::int64_t>(bytes));
  const std::lock_guard lock(mutex_);
  reserve(bytes, bytes);
  stats_.segment[kAggregate].increase(1);
  stats_.reserved_bytes[kAggregate].increase(bytes);
  count_in(bytes);
  return {host.mutable_data(), new Adopted{host, bytes}, &release_adopted, the_device()};
}

c10::Storage Allocator::adopt(const c10::Storage& host) {
  return {c10::Storage::use_byte_size_t(), host.nbytes(), adopt_data(host), this,
          /*resizable=*/true};
}

void Allocator::release_adopted(void* context) {
  const std::unique_ptr<Adopted> adopted(static_cast<Adopted*>(context));
  auto& self = allocator();
  const std::lock_guard lock(self.mutex_);
  self.stats_.segment[kAggregate].decrease(1);
  self.stats_.reserved_bytes[kAggregate].decrease(adopted->bytes);
  self.count_out(adopted->bytes);
}

void Allocator::count_in(std::size_t requested) {
  stats_.allocation[kAggregate].increase(1);
  stats_.active[kAggregate].increase(1);
  stats_.allocated_bytes[kAggregate].increase(requested);
  stats_.active_bytes[kAggregate].increase(requested);
  stats_.requested_bytes[kAggregate].increase(requested);
}

void Allocator::count_out(std::size_t requested) {
  stats_.allocation[kAggregate].decrease(1);
  stats_.active[kAggregate].decrease(1);
  stats_.allocated_bytes[kAggregate].decrease(requested);
  stats_.active_bytes[kAggregate].decrease(requested);
  stats_.requested_bytes[kAggregate].decrease(requested);
}

void Allocator::empty_cache_locked() {
  for (const auto& [bytes, pointer] : cached_) {
    c10::free_cpu(pointer);
    ++stats_.num_device_free;
    stats_.segment[kAggregate].decrease(1);
    stats_.reserved_bytes[kAggregate].decrease(bytes);
  }
  cached_.clear();
}

void Allocator::emptyCache(c10::MempoolId_t) {
  const std::lock_guard lock(mutex_);
  empty_cache_locked();
}

c10::CachingDeviceAllocator::DeviceStats Allocator::getDeviceStats(c10::DeviceIndex) {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void Allocator::resetAccumulatedStats(c10::DeviceIndex) {
  const std::lock_guard lock(mutex_);
  for_each_stat(stats_, [](auto& stat) { stat.reset_accumulated(); });
  stats_.num_alloc_retries = stats_.num_ooms = 0;
  stats_.num_device_alloc = stats_.num_device_free = 0;
}

void Allocator::resetPeakStats(c10::DeviceIndex) {
  const std::lock_guard lock(mutex_);
  for_each_stat(stats_, [](auto& stat) { stat.reset_peak(); });
}

std::pair<std::size_t, std::size_t> Allocator::getMemoryInfo(c10::DeviceIndex) {
  const std::lock_guard lock(mutex_);
  const auto total = total_bytes();
  return {total - std::min(total, allocated_locked()), total};
}

void Allocator::copy_data(void* destination, const void* source, std::size_t bytes) const {
  std::memcpy(destination, source, bytes);
}

std::size_t Allocator::allocated_bytes() const {
  const std::lock_guard lock(mutex_);
  return allocated_locked();
}

std::size_t Allocator::reserved_bytes() const {
  const std::lock_guard lock(mutex_);
  return reserved_locked();
}

std::size_t Allocator::allocated_locked() const {
  return static_cast<std::size_t>(stats_.allocated_bytes[kAggregate].current);
}

std::size_t Allocator::reserved_locked() const {
  return static_cast<std::size_t>(stats_.reserved_bytes[kAggregate].current);
}

std::size_t Allocator::total_bytes() const {
  if (settings().memory > 0) return static_cast<std::size_t>(settings().memory);
  const auto& host = device::host();
  const auto bytes = host.container_limit > 0 ? host.container_limit : host.memory_total;
  return static_cast<std::size_t>(bytes);
}

std::size_t Allocator::recommended_bytes() const { return total_bytes() / 4 * 3; }

std::size_t Allocator::limit() const {
  if (fraction_ <= 0) return total_bytes();
  return static_cast<std::size_t>(fraction_ * static_cast<double>(recommended_bytes()));
}

void Allocator::set_fraction(double fraction) {
  const std::lock_guard lock(mutex_);
  fraction_ = fraction;
}

Allocator& allocator() {
  static auto* const kAllocator = new Allocator;  // tensors may outlive static objects
  return *kAllocator;
}

void install_allocator() { c10::SetAllocator(c10::DeviceType::MPS, &allocator()); }

}  // namespace ubique::backend::sham

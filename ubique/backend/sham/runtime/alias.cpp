// SPDX-License-Identifier: Apache-2.0
// CPU views of device storages, and device tensors of CPU results.
#include "alias.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>

#include "allocator.h"

namespace ubique::backend::sham {
namespace {

c10::Storage cpu_view(const c10::Storage& device) {
  c10::DataPtr data(device.mutable_data(), c10::Device(c10::DeviceType::CPU));
  return {c10::Storage::use_byte_size_t(), device.nbytes(), std::move(data), c10::GetCPUAllocator(),
          /*resizable=*/true};
}

/// A tensor on `storage` with the shape, strides and flags of `like`.
at::Tensor same_geometry(const at::Tensor& like, c10::Storage storage, c10::DispatchKey key) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage),
                                                         c10::DispatchKeySet(key), like.dtype());
  auto* impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
  if (like.is_neg()) impl->_set_neg(true);
  return tensor;
}

bool same_shape(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.storage_offset() == b.storage_offset();
}

}  // namespace

at::Tensor as_cpu(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.is_cpu()) return tensor;
  TORCH_CHECK(tensor.is_mps(), "Expected a tensor on ", the_device(),
              " or on the CPU, but it is on ", tensor.device());
  return same_geometry(tensor, cpu_view(tensor.storage()), c10::DispatchKey::CPU);
}

c10::Storage Aliases::to_cpu(const c10::Storage& storage) {
  if (storage.device_type() != c10::DeviceType::MPS) return storage;
  const auto [found, is_new] = by_device_.emplace(storage.unsafeGetStorageImpl(), storages_.size());
  if (is_new) {
    storages_.push_back({storage, cpu_view(storage)});
    by_cpu_.emplace(storages_.back().cpu.unsafeGetStorageImpl(), found->second);
  }
  return storages_[found->second].cpu;
}

at::Tensor Aliases::to_cpu(const at::Tensor& tensor, bool is_written) {
  if (!tensor.defined() || !tensor.is_mps()) return tensor;
  auto cpu = same_geometry(tensor, to_cpu(tensor.storage()), c10::DispatchKey::CPU);
  views_.emplace(cpu.unsafeGetTensorImpl(), TensorPair{tensor, cpu, is_written});
  return cpu;
}

c10::Storage Aliases::device_storage(const c10::Storage& cpu) {
  const auto [found, is_new] = by_cpu_.emplace(cpu.unsafeGetStorageImpl(), storages_.size());
  if (is_new) storages_.push_back({allocator().adopt(cpu), cpu});
  return storages_[found->second].device;
}

at::Tensor Aliases::to_device(const at::Tensor& cpu) {
  if (!cpu.defined()) return cpu;
  const auto known = views_.find(cpu.unsafeGetTensorImpl());
  if (known != views_.end()) return known->second.device;
  refuse_dtype(cpu.scalar_type());
  TORCH_CHECK(cpu.layout() == at::kStrided, "MPS has no ", cpu.layout(), " tensors");
  return same_geometry(cpu, device_storage(cpu.storage()), c10::DispatchKey::MPS);
}

void Aliases::write_back() {
  for (const auto& [key, pair] : views_) {
    if (!pair.is_written) continue;
    const auto& [device, cpu, is_written] = pair;
    const auto storage = device_storage(cpu.storage());
    if (storage.data() != cpu.storage().data() || storage.nbytes() != cpu.storage().nbytes()) {
      auto* impl = storage.unsafeGetStorageImpl();
      impl->set_data_ptr_noswap(allocator().adopt_data(cpu.storage()));
      impl->set_nbytes(cpu.storage().nbytes());
    }
    auto* impl = device.unsafeGetTensorImpl();
    if (storage.unsafeGetStorageImpl() != device.storage().unsafeGetStorageImpl()) {
      impl->set_storage_keep_dtype(storage);
    }
    if (!same_shape(device, cpu)) {
      impl->set_sizes_and_strides(cpu.sizes(), cpu.strides(), cpu.storage_offset());
    }
  }
}

}  // namespace ubique::backend::sham

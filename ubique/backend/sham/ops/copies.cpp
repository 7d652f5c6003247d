// SPDX-License-Identifier: Apache-2.0
// Copies, their counting in the ledger, and the queue of delayed ones.
#include "copies.h"

#include <ATen/ATen.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "../runtime/alias.h"
#include "../runtime/ledger.h"
#include "../runtime/settings.h"
#include "fallback.h"

namespace ubique::backend::sham {
namespace {

struct LateCopies {
  std::mutex mutex;
  std::atomic<bool> any{false};
  std::vector<std::pair<at::Tensor, at::Tensor>> waiting;  // destination, source
};

LateCopies& late_copies() {
  static auto* const kCopies = new LateCopies;
  return *kCopies;
}

void count_transfer(const at::Tensor& destination, const at::Tensor& source) {
  const auto bytes = static_cast<std::int64_t>(source.nbytes());
  if (source.is_cpu() && !destination.is_cpu()) ledger().add_upload(bytes);
  if (!source.is_cpu() && destination.is_cpu()) ledger().add_download(bytes);
}

void copy_now(const at::Tensor& destination, const at::Tensor& source) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  as_cpu(destination).copy_(as_cpu(source));
}

}  // namespace

at::Tensor& copy_tensor(at::Tensor& destination, const at::Tensor& source, bool non_blocking) {
  begin_op("aten::copy_");
  count_transfer(destination, source);
  if (non_blocking && source.is_cpu() && settings().is_wrong("non_blocking")) {
    auto& late = late_copies();
    const std::lock_guard lock(late.mutex);
    late.waiting.emplace_back(destination.detach(), source.detach());
    late.any = true;
  } else {
    copy_now(destination, source);
  }
  return destination;
}

at::Scalar read_scalar(const at::Tensor& tensor) {
  begin_op("aten::_local_scalar_dense");
  ledger().add_download(static_cast<std::int64_t>(tensor.element_size()));
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  return as_cpu(tensor).item();
}

void finish_late_copies() {
  auto& late = late_copies();
  if (!late.any) return;
  const std::lock_guard lock(late.mutex);
  for (const auto& [destination, source] : late.waiting) copy_now(destination, source);
  late.waiting.clear();
  late.any = false;
}

}  // namespace ubique::backend::sham

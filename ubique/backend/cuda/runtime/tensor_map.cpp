// SPDX-License-Identifier: Apache-2.0
// Encodes tensor maps through the driver.
#include "tensor_map.h"

#include <algorithm>

#include "driver_library.h"
#include "ubique/base/error.h"

namespace ubique::backend::cuda {
namespace {

// Values from NVIDIA's public driver interface.
constexpr int kTypeBf16 = 9, kNoInterleave = 0, kSwizzle128 = 3, kPromote128 = 2, kFillZero = 0;

}  // namespace

TensorMap swizzled_map(const at::Tensor& tensor, const std::array<std::int64_t, 4>& sizes,
                       const std::array<std::int64_t, 3>& strides, const std::array<int, 4>& box) {
  static const DriverLibrary driver;
  TensorMap map;
  std::array<std::uint64_t, 4> extents{};
  std::array<std::uint64_t, 3> bytes{};
  std::array<std::uint32_t, 4> boxes{}, steps{1, 1, 1, 1};
  std::copy(sizes.begin(), sizes.end(), extents.begin());
  std::transform(strides.begin(), strides.end(), bytes.begin(),
                 [](std::int64_t values) { return static_cast<std::uint64_t>(values) * 2; });
  std::copy(box.begin(), box.end(), boxes.begin());
  const int code = driver.call("cuTensorMapEncodeTiled", static_cast<void*>(&map), kTypeBf16, 4U,
                               tensor.data_ptr(), extents.data(), bytes.data(), boxes.data(),
                               steps.data(), kNoInterleave, kSwizzle128, kPromote128, kFillZero);
  check(code == kDriverSuccess, ErrorKind::Internal,
        "[cuda.tensor_map] the driver refuses a tensor map: {}.", driver.error_name(code));
  return map;
}

}  // namespace ubique::backend::cuda

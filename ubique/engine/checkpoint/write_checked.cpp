// SPDX-License-Identifier: Apache-2.0
// Removes what a failed write or read-back leaves.
#include "ubique/engine/checkpoint/write_checked.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"

namespace ubique::engine {

namespace fs = std::filesystem;

void write_checked(const fs::path& path, const std::string& place,
                   const std::function<void()>& write_and_check) {
  check(!fs::exists(path), ErrorKind::Usage, "[{}] {} exists already; expected a new name.", place,
        path.string());
  auto data = path;
  data += ".data";
  const bool had_data = fs::exists(data);  // not ours to remove
  try {
    write_and_check();
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
    if (!had_data) fs::remove(data, ignored);
    throw;
  }
}

namespace {

/// By bits, for a NaN equals no number.
bool same_bits(const at::Tensor& wanted, const at::Tensor& read_back) {
  if (!read_back.defined() || wanted.sizes() != read_back.sizes()) return false;
  const auto a = to_host(wanted), b = to_host(read_back.to(a.scalar_type()));
  return std::ranges::equal(bytes_of(a), bytes_of(b));
}

}  // namespace

void check_same_tensors(const NamedTensors& wanted, const NamedTensors& read_back,
                        const std::string& place) {
  std::string different = wanted.size() == read_back.size() ? "" : "another number of tensors";
  for (const auto& [name, tensor] : wanted) {
    if (!different.empty()) break;
    if (!same_bits(tensor, find_tensor(read_back, name))) different = name;
  }
  check(different.empty(), ErrorKind::Parity,
        "[{}] what was written is not what was read back; got other values in {}, expected the "
        "same bits. Nothing was kept.",
        place, different);
}

}  // namespace ubique::engine

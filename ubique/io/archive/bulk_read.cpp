// SPDX-License-Identifier: Apache-2.0
// Reads large ranges with two threads.
#include "ubique/io/archive/bulk_read.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <system_error>

#include "ubique/base/error.h"

namespace ubique::io {
namespace {

constexpr std::size_t kMinForTwoThreads = 8U << 20U;
constexpr std::size_t kPieceBytes = 1U << 30U;  // macOS limits one read to less than 2 GiB

void read_range(const MappedFile& file, std::uint64_t offset, std::span<std::byte> out) {
  while (!out.empty()) {
    const auto count = ::pread(file.descriptor(), out.data(), std::min(out.size(), kPieceBytes),
                               static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    check(count > 0, ErrorKind::Input, "[io.read] cannot read {} at byte {}; {}.",
          file.path().string(), offset,
          count < 0 ? std::generic_category().message(errno) : "it became shorter while open");
    offset += static_cast<std::uint64_t>(count);
    out = out.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace

void bulk_read(const MappedFile& file, std::uint64_t offset, std::span<std::byte> out) {
  if (out.size() < kMinForTwoThreads) return read_range(file, offset, out);
  // One thread does not saturate the memory bus (bench/safetensors). Without a launch policy, get()
  // does the work itself where no thread can be started.
  const auto half = out.size() / 2;
  auto second = std::async([&] { read_range(file, offset + half, out.subspan(half)); });
  read_range(file, offset, out.first(half));
  second.get();
}

}  // namespace ubique::io

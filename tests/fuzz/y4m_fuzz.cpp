// SPDX-License-Identifier: Apache-2.0
// Any bytes as a video: an Input error, or frames that fill their header's size, go to RGB and back
// and are read again as they were written.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "ubique/base/error.h"
#include "ubique/io/images/y4m.h"

using namespace ubique;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

io::ByteSource source_of(std::span<const std::byte> bytes) {
  return [bytes](std::span<std::byte> out) mutable {
    const auto count = std::min(out.size(), bytes.size());
    if (count > 0) std::memcpy(out.data(), bytes.data(), count);
    bytes = bytes.subspan(count);
    return count;
  };
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    io::Y4mReader reader(source_of(std::as_bytes(std::span(data, size))), "fuzz");
    const auto& header = reader.header();
    const auto text = io::y4m_header_text(header);
    const io::Y4mReader again(source_of(std::as_bytes(std::span(text))), "again");
    require(io::y4m_header_text(again.header()) == text);
    while (const auto frame = reader.next()) {
      require(frame->size() == header.frame_bytes());
      const auto picture = io::y4m_picture(header, *frame);
      require(io::y4m_frame(header, picture).size() == frame->size());
    }
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Input);
  }
  return 0;
}

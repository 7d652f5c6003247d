// SPDX-License-Identifier: Apache-2.0
// Writes scalars as TensorBoard reads them: an events.out.tfevents.* file of records with checksums
// (TFRecord) that hold Event messages (protocol buffers, encoded by hand: few fields are needed).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

std::uint32_t crc32c(std::string_view bytes);
/// One TFRecord: length, its checksum, the bytes, their checksum.
std::string record_frame(std::string_view message);

class EventFile {
 public:
  /// A new file in `folder`. TensorBoard then ignores `first_step` and later steps of earlier
  /// files, so a resumed run shows one curve.
  EventFile(const std::filesystem::path& folder, std::int64_t first_step);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  void add_scalars(std::int64_t step, const Scores& scalars);
  const std::filesystem::path& path() const { return path_; }

 private:
  void write(const std::string& message);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace ubique::engine

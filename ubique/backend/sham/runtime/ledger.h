// SPDX-License-Identifier: Apache-2.0
// Statistics of the device: how often each op ran, bytes copied between host and device, and ops
// that real Metal would have run on the CPU (fallbacks).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace ubique::backend::sham {

struct Traffic {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

class Ledger {
 public:
  void add_op(const std::string& op);
  void add_upload(std::int64_t bytes);    ///< host to device
  void add_download(std::int64_t bytes);  ///< device to host
  void add_fallback(const std::string& op, std::int64_t bytes);
  void reset();

  /// The count of one op, or a total: "ops", "uploads", "upload_bytes", "downloads",
  /// "download_bytes", "fallbacks", "fallback_bytes".
  std::int64_t total(const std::string& what) const;
  std::string to_text() const;
  std::string list() const;  ///< a line for every op: its name and its count

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::int64_t> ops_;
  std::map<std::string, Traffic> fallbacks_;
  Traffic uploads_, downloads_;
};

Ledger& ledger();

}  // namespace ubique::backend::sham

// SPDX-License-Identifier: Apache-2.0
// Downloads files over several connections: large ones in pieces at once, each resumed where it was
// cut, each file checked against its digest before it counts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ubique/io/hub/listing.h"

namespace ubique::io {

struct DownloadOptions {
  int connections = 8;
  std::int64_t piece = std::int64_t{16} << 20U;  ///< bytes that one request asks for
  int retries = 8;                               ///< without a byte, until it is given up
  double first_wait = 0.5;                       ///< seconds before the first of them
  long stall_seconds = 30;
  std::string token = {};
  std::function<bool()> stop_requested = {};
  /// Bytes that came; negative if a file begins anew. From any thread.
  std::function<void(std::int64_t)> advanced = {};
};

struct DownloadFile {
  HubFile file;
  std::string url;
  std::filesystem::path destination;
};

/// Called for each file that is complete and under its name, from one thread at a time.
using FileDone = std::function<void(const DownloadFile&)>;

/// Fetches all; false if it was stopped. Unfinished files stay beside their destinations under
/// the name that part_path() gives, for the next time. Input error for a server that gives other
/// bytes than it announced.
bool download(const std::vector<DownloadFile>& files, const DownloadOptions& options,
              const FileDone& done);

std::filesystem::path part_path(const std::filesystem::path& destination);
/// Bytes of a file that an earlier run left.
std::int64_t bytes_left_by_earlier_run(const DownloadFile& file);

}  // namespace ubique::io

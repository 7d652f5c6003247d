// SPDX-License-Identifier: Apache-2.0
// A file that comes in pieces, from several connections at once and over several runs. How far each
// piece has come stands behind the data in the same file, so that a run after a kill goes on at the
// byte where the last one ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ubique/io/hub/listing.h"

namespace ubique::io {

class PartFile {
 public:
  /// Opens what an earlier run left, or begins. Pieces have `piece` bytes, the last one what is
  /// left. Input error if the file cannot be written.
  PartFile(std::filesystem::path path, std::int64_t bytes, std::int64_t piece);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// Bytes that an earlier run left there. Changes nothing.
  static std::int64_t left_in(const std::filesystem::path& path, std::int64_t bytes);

  std::size_t pieces() const { return done_.size(); }
  std::int64_t begin_of(std::size_t piece) const;
  std::int64_t size_of(std::size_t piece) const;
  std::int64_t done(std::size_t piece) const { return done_[piece]; }
  std::int64_t done() const;  ///< of all pieces
  bool complete() const { return done() == bytes_; }

  /// Appends to a piece; different pieces from different threads. Input error for a full disk.
  void append(std::size_t piece, std::span<const std::byte> bytes);
  /// Forgets everything and goes on with pieces of this size: one if it is that of the file.
  void restart(std::int64_t piece);

  /// The digest of the data, read back.
  std::string digest(const HubFile& file) const;
  /// Gives the complete file its name.
  void finish(const std::filesystem::path& name);
  void remove();

 private:
  PartFile(int descriptor, std::int64_t bytes);  // to look at only

  void write_at(std::int64_t place, std::span<const std::byte> bytes) const;
  bool read_states();
  void write_header();

  std::filesystem::path path_;
  std::int64_t bytes_, piece_;
  std::vector<std::int64_t> done_;
  int descriptor_ = -1;
};

}  // namespace ubique::io

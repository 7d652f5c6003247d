// SPDX-License-Identifier: Apache-2.0
// zlib streams behind GzipReader and GzipWriter.
#include "ubique/io/archive/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "ubique/base/error.h"

namespace ubique::io {
namespace {

constexpr int kGzipWindow = 15 + 16;           // the largest window, with gzip's header and trailer
constexpr std::size_t kGzipPiece = 1U << 30U;  // zlib counts in 32 bits
constexpr std::size_t kGzipBuffer = 256U * 1024U;  // compressed bytes per call of the sink
constexpr std::uint64_t kDeflateRatio = 1032;      // at most: 258 bytes from 2 bits

Bytef* zlib_pointer(const std::byte* bytes) {
  // zlib only reads from next_in, but declares it without const.
  return reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes));
}

}  // namespace

bool is_gzip(std::span<const std::byte> start) {
  return start.size() >= 2 && start[0] == std::byte{0x1F} && start[1] == std::byte{0x8B};
}

std::uint64_t most_inflated(std::uint64_t compressed) {
  const auto largest = std::numeric_limits<std::uint64_t>::max();
  return compressed > largest / kDeflateRatio ? largest : compressed * kDeflateRatio;
}

void check_inflation(std::uint64_t packed, std::uint64_t unpacked, const std::string& what) {
  check(unpacked <= kFreelyInflated || unpacked / kMostPlausibleRatio <= packed, ErrorKind::Input,
        "{} would grow too much when unpacked; got {} bytes from {} packed ones, expected at most "
        "{} times as many above {} bytes. If it is genuine, unpack it yourself first.",
        what, unpacked, packed, kMostPlausibleRatio, kFreelyInflated);
}

void GzipReader::Deleter::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

GzipReader::GzipReader(std::span<const std::byte> compressed, std::string name)
    : stream_(new z_stream_s{}), rest_(compressed), name_(std::move(name)) {
  if (inflateInit2(stream_.get(), kGzipWindow) != Z_OK) throw std::bad_alloc();
}

std::size_t GzipReader::read(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size() && !ended_) {
    const auto room = std::min(out.size() - done, kGzipPiece);
    stream_->next_out = zlib_pointer(out.data() + done);
    stream_->avail_out = static_cast<uInt>(room);
    inflate_more();
    done += room - stream_->avail_out;
  }
  return done;
}

void GzipReader::check_rest(std::uint64_t limit) {
  std::array<std::byte, 65536> scratch;
  for (std::uint64_t seen = 0; !ended_ && seen <= limit;) seen += read(scratch);
}

void GzipReader::inflate_more() {
  if (stream_->avail_in == 0) {
    const auto piece = rest_.first(std::min(rest_.size(), kGzipPiece));
    stream_->next_in = zlib_pointer(piece.data());
    stream_->avail_in = static_cast<uInt>(piece.size());
    rest_ = rest_.subspan(piece.size());
  }
  const auto room = stream_->avail_out;
  const int result = inflate(stream_.get(), Z_NO_FLUSH);
  produced_ += room - stream_->avail_out;
  if (result == Z_OK) return;
  if (result == Z_STREAM_END) return next_member();
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  check(result != Z_BUF_ERROR, ErrorKind::Input,
        "[io.gzip] {} is cut short; its gzip stream ends after {} bytes of content, before its own "
        "end. Was the download or the copy interrupted?",
        name_, produced_);
  fail_damaged(stream_->msg != nullptr ? stream_->msg : "needs a dictionary");
}

void GzipReader::next_member() {
  // rest_ follows directly after the bytes that zlib still has.
  const std::span left(reinterpret_cast<const std::byte*>(stream_->next_in),
                       stream_->avail_in + rest_.size());
  ended_ = !is_gzip(left) || inflateReset(stream_.get()) != Z_OK;
}

void GzipReader::fail_damaged(const char* reason) const {
  const std::string_view text = reason;
  const bool checksum = text == "incorrect data check" || text == "incorrect length check";
  fail(ErrorKind::Input, "[io.gzip] {} is damaged{}; got '{}' at byte {} of its content. {}", name_,
       checksum ? ", its checksum (CRC) does not fit" : "", text, produced_,
       "Copy or download it again.");
}

void GzipWriter::Deleter::operator()(z_stream_s* stream) const {
  deflateEnd(stream);
  delete stream;
}

GzipWriter::GzipWriter(Sink sink, int level)
    : stream_(new z_stream_s{}), sink_(std::move(sink)), buffer_(kGzipBuffer) {
  check(level >= 0 && level <= 9, ErrorKind::Usage,
        "[io.gzip] unknown compression level; got {}, expected 0 to 9.", level);
  const int memory = 8;  // zlib's default
  if (deflateInit2(stream_.get(), level, Z_DEFLATED, kGzipWindow, memory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
}

void GzipWriter::write(std::span<const std::byte> content) {
  while (!content.empty()) {
    const auto piece = content.first(std::min(content.size(), kGzipPiece));
    deflate_some(piece, Z_NO_FLUSH);
    content = content.subspan(piece.size());
  }
}

void GzipWriter::finish() { deflate_some({}, Z_FINISH); }

void GzipWriter::deflate_some(std::span<const std::byte> content, int flush) {
  stream_->next_in = zlib_pointer(content.data());
  stream_->avail_in = static_cast<uInt>(content.size());
  do {
    stream_->next_out = zlib_pointer(buffer_.data());
    stream_->avail_out = static_cast<uInt>(buffer_.size());
    deflate(stream_.get(), flush);
    sink_(std::span(buffer_).first(buffer_.size() - stream_->avail_out));
  } while (stream_->avail_out == 0);
}

}  // namespace ubique::io

// SPDX-License-Identifier: Apache-2.0
// Streams a NIfTI file in chunks of planes and converts each on its own thread.
#include "ubique/data/scans/volume/scan_values.h"

#include <algorithm>
#include <deque>
#include <future>
#include <optional>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/numbers/large_vector.h"
#include "ubique/data/scans/volume/scan_name.h"
#include "ubique/data/scans/volume/strided.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/scans/nifti.h"
#include "ubique/io/scans/nifti_fields.h"
#include "ubique/io/scans/nifti_header.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::byte>;

constexpr std::int64_t kChunkPlanes = 32;

io::NiftiContent read_start(io::NiftiSource& source) {
  Bytes start(io::nifti_start_bytes(1));
  auto count = source.read(start);
  if (io::nifti_version(start) == 2) {
    start.resize(io::nifti_start_bytes(2));
    count += source.read(std::span(start).subspan(count));
  }
  start.resize(count);
  return io::parse_nifti_header(start, source.name());
}

/// Destination of the chunks.
struct Target {
  const io::NiftiHeader& header;
  const AxisMoves& moves;
  float* values;
};

/// Planes `first` to first + planes - 1 of the file's slowest axis.
template <typename Stored>
void place_values(const Target& target, const Stored* from, std::int64_t first,
                  std::int64_t planes) {
  const auto& header = target.header;
  auto shape = header.shape;
  const auto to_steps = dense_strides(moved_shape(shape, target.moves));
  const auto length = shape[2];
  shape[2] = planes;
  const auto [start, steps] = moved_steps(shape, {1, shape[0], shape[0] * shape[1]}, target.moves);
  auto* to = target.values;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto& move = target.moves[axis];
    if (move.source == 2) to += to_steps[axis] * (move.flipped ? length - first - planes : first);
  }
  const auto place = [&](const auto& convert) {
    copy_strided(from + start, steps, moved_shape(shape, target.moves), to, to_steps, 1, convert);
  };
  if (header.scaled) {
    place([&](Stored value) {
      return static_cast<float>(static_cast<double>(value) * header.slope + header.inter);
    });
  } else {
    place([](Stored value) { return static_cast<float>(value); });
  }
}

void place_chunk(const Target& target, const Bytes& chunk, std::int64_t first,
                 std::int64_t planes) {
  const auto as = [&]<typename Stored>(Stored) {
    place_values(target, reinterpret_cast<const Stored*>(chunk.data()), first, planes);
  };
  switch (target.header.dtype) {
    case DType::U8:
      return as(std::uint8_t{});
    case DType::I8:
      return as(std::int8_t{});
    case DType::U16:
      return as(std::uint16_t{});
    case DType::I16:
      return as(std::int16_t{});
    case DType::U32:
      return as(std::uint32_t{});
    case DType::I32:
      return as(std::int32_t{});
    case DType::U64:
      return as(std::uint64_t{});
    case DType::I64:
      return as(std::int64_t{});
    case DType::F32:
      return as(float{});
    case DType::F64:
      return as(double{});
    default:
      fail(ErrorKind::Internal, "[data.scan] scans cannot have voxels of {}.",
           to_string(target.header.dtype));
  }
}

}  // namespace

/// The file's voxel bytes in order. A pair (.hdr, .img) is read whole.
class ScanValues::Source {
 public:
  Source(const fs::path& path, std::int64_t volume) : path_(path) {
    if (is_scan_name(path)) {
      stream_.emplace(path);
      content_ = read_start(*stream_);
      if (content_.paired || content_.data_bytes > stream_->most_left()) refuse();
      io::check_size(content_, *stream_);
      stream_->skip(content_.data_begin - stream_->position());
    } else {
      whole_ = io::read_nifti(path);
      content_.header = whole_.header;
    }
    pick(volume);
  }

  const io::NiftiHeader& header() const { return content_.header; }

  void next(std::span<std::byte> out) {
    if (!stream_) {
      std::copy_n(whole_.bytes.begin() + static_cast<std::ptrdiff_t>(position_), out.size(),
                  out.begin());
      position_ += out.size();
      return;
    }
    if (stream_->read(out) != out.size()) refuse();
    if (header().swapped) io::swap_byte_order(out, size_of(header().dtype));
  }

  /// The checksum of a gzip stream comes after the last voxel.
  void finish() {
    if (!stream_) return;
    stream_->skip(behind_);
    stream_->check_end();
  }

 private:
  /// read_nifti() throws the precise error for a bad file.
  [[noreturn]] void refuse() const {
    io::read_nifti(path_);
    fail(ErrorKind::Input, "[data.scan] {} changed while it was read.", path_.string());
  }

  void pick(std::int64_t volume) {
    auto& header = content_.header;
    const auto volumes = std::exchange(header.volumes, 1);
    check(volumes == 1 || volume >= 0, ErrorKind::Input,
          "[data.scan] {}: more than one volume; got {}, expected one. Split the series, or pick "
          "one with --volume.",
          path_.string(), volumes);
    check(volume < volumes, ErrorKind::Input,
          "[data.scan] {}: no such volume; got number {}, expected one below {}.", path_.string(),
          volume, volumes);
    const auto bytes =
        static_cast<std::uint64_t>(voxel_count(header.shape)) * size_of(header.dtype);
    position_ = static_cast<std::uint64_t>(std::max<std::int64_t>(volume, 0)) * bytes;
    if (!stream_) return;
    stream_->skip(position_);
    behind_ = static_cast<std::uint64_t>(volumes) * bytes - position_ - bytes;
  }

  fs::path path_;
  std::optional<io::NiftiSource> stream_;
  io::NiftiContent content_;
  io::NiftiImage whole_;
  std::uint64_t position_ = 0;  // in whole_
  std::uint64_t behind_ = 0;    // bytes of the volumes after this one
};

ScanValues::ScanValues(const fs::path& path, std::int64_t volume)
    : source_(std::make_unique<Source>(path, volume)) {}

ScanValues::~ScanValues() = default;

const io::NiftiHeader& ScanValues::header() const { return source_->header(); }

std::vector<float> ScanValues::read(const AxisMoves& moves, int threads) {
  const auto& shape = header().shape;
  const auto plane_bytes = static_cast<std::size_t>(shape[0] * shape[1]) * size_of(header().dtype);
  auto values = large_vector<float>(static_cast<std::size_t>(voxel_count(shape)));
  const Target target{header(), moves, values.data()};
  std::deque<std::future<Bytes>> busy;  // their buffers are reused
  const auto buffer = [&]() -> Bytes {
    if (static_cast<int>(busy.size()) < threads) return {};
    auto done = busy.front().get();
    busy.pop_front();
    return done;
  };
  for (std::int64_t first = 0; first < shape[2]; first += kChunkPlanes) {
    const auto planes = std::min(kChunkPlanes, shape[2] - first);
    auto chunk = buffer();
    chunk.resize(static_cast<std::size_t>(planes) * plane_bytes);
    source_->next(chunk);
    const auto policy = threads > 1 ? std::launch::async : std::launch::deferred;
    busy.push_back(std::async(policy, [target, first, planes, chunk = std::move(chunk)]() mutable {
      place_chunk(target, chunk, first, planes);
      return std::move(chunk);
    }));
  }
  for (auto& part : busy) part.get();
  source_->finish();
  return values;
}

}  // namespace ubique::data

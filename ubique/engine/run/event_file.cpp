// SPDX-License-Identifier: Apache-2.0
// CRC-32C, the protocol buffer encoding of Event messages, and the file they are appended to.
#include "ubique/engine/run/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "ubique/base/error.h"

namespace ubique::engine {
namespace {

// Field numbers from TensorBoard's event.proto and summary.proto.
constexpr int kEventWallTime = 1, kEventStep = 2, kEventFileVersion = 3, kEventSummary = 5,
              kEventSessionLog = 7;
constexpr int kSummaryValue = 1, kValueTag = 1, kValueSimple = 2;
constexpr int kSessionStatus = 1;
constexpr std::uint64_t kSessionStart = 1;

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) {
      rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? 0x82F63B78U : 0U);  // Castagnoli, reflected
    }
    table[byte] = rest;
  }
  return table;
}

/// Little-endian bytes of a number.
template <typename Number>
std::string fixed(Number number) {
  std::string bytes;
  for (unsigned i = 0; i < sizeof(Number); ++i) {
    bytes += static_cast<char>(number >> (8 * i) & 0xFFU);
  }
  return bytes;
}

std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7U) bytes += static_cast<char>(number | 0x80U);
  return bytes + static_cast<char>(number);
}

enum class Wire : std::uint64_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

std::string field_key(int field, Wire wire) {
  return varint(static_cast<std::uint64_t>(field) << 3U | static_cast<std::uint64_t>(wire));
}

std::string integer_field(int field, std::uint64_t value) {
  return field_key(field, Wire::Varint) + varint(value);
}

std::string bytes_field(int field, std::string_view bytes) {
  return field_key(field, Wire::Bytes) + varint(bytes.size()) + std::string(bytes);
}

std::string double_field(int field, double value) {
  return field_key(field, Wire::Fixed64) + fixed(std::bit_cast<std::uint64_t>(value));
}

std::string float_field(int field, float value) {
  return field_key(field, Wire::Fixed32) + fixed(std::bit_cast<std::uint32_t>(value));
}

double seconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// TensorBoard reads a folder's files in the order of their names, so the time comes first.
std::filesystem::path event_path(const std::filesystem::path& folder) {
  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  return folder / fmt::format("events.out.tfevents.{:010}.{:06}.{}.{}", micros / 1'000'000,
                              micros % 1'000'000, host, ::getpid());
}

[[noreturn]] void fail_events(const std::filesystem::path& path, int error) {
  fail(ErrorKind::Input, "[engine.events] cannot write {}; {}.", path.string(),
       std::generic_category().message(error));
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto kTable = make_crc_table();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) {
    crc = (crc >> 8U) ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
  }
  return ~crc;
}

std::string record_frame(std::string_view message) {
  // TFRecord masks checksums (rotate, add), because records may contain checksums themselves.
  const auto masked = [](std::string_view bytes) {
    return fixed(std::rotr(crc32c(bytes), 15) + 0xA282EAD8U);
  };
  const auto length = fixed(static_cast<std::uint64_t>(message.size()));
  return length + masked(length) + std::string(message) + masked(message);
}

EventFile::EventFile(const std::filesystem::path& folder, std::int64_t first_step)
    : path_(event_path(folder)) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_events(path_, errno);
  write(double_field(kEventWallTime, seconds_now()) +
        bytes_field(kEventFileVersion, "brain.Event:2"));
  write(double_field(kEventWallTime, seconds_now()) +
        integer_field(kEventStep, static_cast<std::uint64_t>(first_step)) +
        bytes_field(kEventSessionLog, integer_field(kSessionStatus, kSessionStart)));
}

EventFile::~EventFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void EventFile::add_scalars(std::int64_t step, const Scores& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    summary += bytes_field(kSummaryValue, bytes_field(kValueTag, tag) +
                                              float_field(kValueSimple, static_cast<float>(value)));
  }
  write(double_field(kEventWallTime, seconds_now()) +
        integer_field(kEventStep, static_cast<std::uint64_t>(step)) +
        bytes_field(kEventSummary, summary));
}

void EventFile::write(const std::string& message) {
  const auto frame = record_frame(message);
  ssize_t count = 0;
  do {
    count = ::write(descriptor_, frame.data(), frame.size());
  } while (count < 0 && errno == EINTR);
  if (count != static_cast<ssize_t>(frame.size())) fail_events(path_, count < 0 ? errno : ENOSPC);
}

}  // namespace ubique::engine

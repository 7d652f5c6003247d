// SPDX-License-Identifier: Apache-2.0
// First bytes of the formats that commands read.
#include "ubique/serve/library/file_types.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "ubique/base/text/text.h"
#include "ubique/base/text/utf8.h"

namespace ubique::serve {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::size_t at;
  std::string_view bytes;
  const char* type;
  const char* mime;
  const char* ending;
};

constexpr std::array<Signature, 16> kSignatures = {{
    {8, "WAVE"sv, "sound", "audio/wav", ".wav"},
    {0, "fLaC"sv, "sound", "audio/flac", ".flac"},
    {0, "OggS"sv, "sound", "audio/ogg", ".ogg"},
    {0, "ID3"sv, "sound", "audio/mpeg", ".mp3"},
    {0, "\xFF\xFB"sv, "sound", "audio/mpeg", ".mp3"},
    {0, "\xFF\xF3"sv, "sound", "audio/mpeg", ".mp3"},
    {0, "\x89PNG\r\n\x1A\n"sv, "picture", "image/png", ".png"},
    {0, "\xFF\xD8\xFF"sv, "picture", "image/jpeg", ".jpg"},
    {4, "ftyp"sv, "video", "video/mp4", ".mp4"},
    {0, "\x1A\x45\xDF\xA3"sv, "video", "video/webm", ".webm"},
    {8, "AVI "sv, "video", "video/x-msvideo", ".avi"},
    {0, "YUV4MPEG2"sv, "video", "video/x-yuv4mpeg", ".y4m"},
    {344, "n+1\0"sv, "scan", "application/x-nifti", ".nii"},
    {344, "ni1\0"sv, "scan", "application/x-nifti", ".nii"},
    {4, "n+2\0"sv, "scan", "application/x-nifti", ".nii"},
    {0, "\x93NUMPY"sv, "array", "application/x-npy", ".npy"},
}};

std::optional<FileType> by_signature(std::string_view start) {
  for (const auto& row : kSignatures) {
    if (start.size() < row.at + row.bytes.size()) continue;
    if (start.substr(row.at, row.bytes.size()) != row.bytes) continue;
    return FileType{row.type, row.mime, row.ending};
  }
  return std::nullopt;
}

/// The start of what a gzip file holds; empty if it is damaged.
std::string unzipped_start(std::string_view start) {
  constexpr int kGzip = 16 + MAX_WBITS;
  z_stream stream{};
  if (inflateInit2(&stream, kGzip) != Z_OK) return {};
  std::string bytes(512, '\0');
  auto input = std::string(start);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  inflate(&stream, Z_SYNC_FLUSH);
  bytes.resize(bytes.size() - stream.avail_out);
  inflateEnd(&stream);
  return bytes;
}

bool is_text(std::string_view start) {
  const auto whole = start.substr(0, complete_utf8(start));
  const bool plain = std::ranges::all_of(whole, [](unsigned char c) {
    return (c >= 0x20 && c != 0x7F) || c == '\n' || c == '\r' || c == '\t' || c == '\f';
  });
  return plain && is_utf8(whole);
}

/// Lines of digits, dots and walls: a sudoku or a maze.
bool is_puzzle(std::string_view text) {
  std::size_t cells = 0;
  for (const char c : text.substr(0, 4096)) {
    const bool cell = (c >= '0' && c <= '9') || std::strchr(".#_xXSGo|+-*", c) != nullptr;
    if (!cell && c != ' ' && c != '\n' && c != '\r' && c != ',') return false;
    cells += static_cast<std::size_t>(cell);
  }
  return cells >= 16;
}

/// A page could run scripts under our address; no command reads one.
bool is_page(std::string_view text) {
  const auto start = lowercase(trim(text.substr(0, 512)));
  return start.starts_with("<!doctype html") || start.starts_with("<html") ||
         start.starts_with("<svg") || start.starts_with("<?xml") || start.starts_with("<script");
}

struct Ending {
  std::string_view ending, mime;
};

constexpr std::array<Ending, 26> kEndings = {{
    {".wav", "audio/wav"},        {".flac", "audio/flac"},
    {".ogg", "audio/ogg"},        {".mp3", "audio/mpeg"},
    {".png", "image/png"},        {".jpg", "image/jpeg"},
    {".jpeg", "image/jpeg"},      {".json", "application/json"},
    {".txt", "text/plain"},       {".csv", "text/csv"},
    {".jsonl", "text/plain"},     {".yaml", "text/plain"},
    {".md", "text/plain"},        {".py", "text/plain"},
    {".mp4", "video/mp4"},        {".webm", "video/webm"},
    {".y4m", "video/x-yuv4mpeg"}, {".nii.gz", "application/gzip"},
    {".gz", "application/gzip"},  {".nii", "application/x-nifti"},
    {".html", "text/html"},       {".js", "text/javascript"},
    {".css", "text/css"},         {".wasm", "application/wasm"},
    {".svg", "image/svg+xml"},    {".log", "text/plain"},
}};

}  // namespace

std::optional<FileType> sniff(std::string_view start) {
  if (start.empty()) return std::nullopt;
  if (start.starts_with("\x1F\x8B")) {
    const auto inner = by_signature(unzipped_start(start));
    if (!inner || inner->type != "scan") return std::nullopt;
    return FileType{"scan", "application/gzip", ".nii.gz"};
  }
  if (auto known = by_signature(start)) {
    const bool riff = known->ending == ".wav" || known->ending == ".avi";
    if (riff && !start.starts_with("RIFF")) return std::nullopt;
    return known;
  }
  if (!is_text(start) || is_page(start)) return std::nullopt;
  if (is_puzzle(start)) return FileType{"puzzle", "text/plain", ".txt"};
  return FileType{"text", "text/plain", ".txt"};
}

std::string mime_of(const std::filesystem::path& path) {
  const auto name = lowercase(path.filename().string());
  for (const auto& row : kEndings) {
    if (name.ends_with(row.ending)) return std::string(row.mime);
  }
  return "application/octet-stream";
}

}  // namespace ubique::serve

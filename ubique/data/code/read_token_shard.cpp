// SPDX-License-Identifier: Apache-2.0
// Reads files of token ids: nanoGPT's raw uint16 and llm.c's shards.
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/data/code/sequence_forms.h"

namespace ubique::data {
namespace {

constexpr std::int32_t kShardMagic = 20240520, kShardVersion = 1;
constexpr std::size_t kShardHeader = 1024;

/// The ids of a shard, without its header.
std::span<const std::byte> shard_ids(std::span<const std::byte> bytes, const std::string& where) {
  std::int32_t header[3] = {};
  if (bytes.size() >= sizeof(header)) std::memcpy(header, bytes.data(), sizeof(header));
  if (header[0] != kShardMagic) {
    check(bytes.size() % 2 == 0, ErrorKind::Input,
          "[data.read] {} has {} bytes; expected an even number, two for each token id.", where,
          bytes.size());
    return bytes;
  }
  check(header[1] == kShardVersion, ErrorKind::Input,
        "[data.read] {} is a shard of version {}; expected {}.", where, header[1], kShardVersion);
  check(header[2] >= 0 && bytes.size() >= kShardHeader &&
            bytes.size() - kShardHeader == static_cast<std::size_t>(header[2]) * 2,
        ErrorKind::Input, "[data.read] {} says it has {} tokens, but has {} bytes.", where,
        header[2], bytes.size());
  return bytes.subspan(kShardHeader);
}

}  // namespace

void read_token_shard(const std::filesystem::path& file, SequenceReading& reading) {
  const MappedFile mapped(file);
  const auto where = file.string();
  const auto bytes = shard_ids(mapped.bytes(), where);
  const auto count = bytes.size() / 2;
  EncodedDocument document;
  std::int64_t number = 0;
  const auto deliver = [&] {
    if (document.ids.empty()) return;
    document.info = {fmt::format("{}#{}", file.generic_string(), number++), "", "tokens"};
    reading.deliver(std::move(document));
    document = {};
  };
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t id = 0;
    std::memcpy(&id, bytes.data() + i * 2, 2);
    check(id < reading.vocabulary, ErrorKind::Input,
          "[data.read] {}: token {} is outside the vocabulary; got id {}, expected 0 to {}. The "
          "file was made with another tokenizer.",
          where, i, id, reading.vocabulary - 1);
    if (id == reading.end_of_text) {
      deliver();
    } else {
      document.ids.push_back(id);
    }
  }
  deliver();
}

}  // namespace ubique::data

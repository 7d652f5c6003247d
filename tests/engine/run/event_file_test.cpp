// SPDX-License-Identifier: Apache-2.0
// The bytes of an event file; tests/peers reads one with TensorBoard itself.
#include "ubique/engine/run/event_file.h"

#include <doctest/doctest.h>

#include <cstring>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"

using namespace ubique;
using namespace ubique::engine;

namespace {

/// The messages of a file of records, each checked against its checksums.
std::vector<std::string> messages_in(const std::string& file) {
  std::vector<std::string> messages;
  std::size_t at = 0;
  while (at < file.size()) {
    std::uint64_t length = 0;
    REQUIRE(at + 12 <= file.size());
    std::memcpy(&length, file.data() + at, sizeof length);
    REQUIRE(length < file.size());
    const auto message = file.substr(at + 12, length);
    CHECK(record_frame(message) == file.substr(at, length + 16));
    messages.push_back(message);
    at += length + 16;
  }
  return messages;
}

}  // namespace

TEST_CASE("event file: checksums of known texts") {
  CHECK(crc32c("") == 0);
  CHECK(crc32c("123456789") == 0xE3069283);
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AA);
  CHECK(crc32c(std::string(32, '\xFF')) == 0x62A8AB43);
}

TEST_CASE("event file: a record has its length and two masked checksums") {
  CHECK(record_frame("abc") == std::string("\x03\0\0\0\0\0\0\0\xB0\x99\x49\x0E"
                                           "abc\x6E\x57\xF1\x21",
                                           19));
}

TEST_CASE("event file: contains its version, the session start and each scalar") {
  const test::ScratchFolder folder;
  EventFile file(folder.path(), 300);
  file.add_scalars(301, {{"train/loss", 1.5}, {"train/lr", -2}});
  const auto messages = messages_in(read_file(file.path()));
  REQUIRE(messages.size() == 3);
  CHECK(messages[0].substr(9) ==
        "\x1A\x0D"
        "brain.Event:2");
  CHECK(messages[1].substr(9) == "\x10\xAC\x02\x3A\x02\x08\x01");
  const std::string loss("\x0A\x11\x0A\x0Atrain/loss\x15\0\0\xC0\x3F", 19);
  const std::string rate("\x0A\x0F\x0A\x08train/lr\x15\0\0\0\xC0", 17);
  CHECK(messages[2].substr(9) == "\x10\xAD\x02\x2A\x24" + loss + rate);
}

TEST_CASE("event file: a missing folder is an input error") {
  const test::ScratchFolder folder;
  const auto error = test::refusal_of(ErrorKind::Input, [&] { EventFile(folder / "nowhere", 0); });
  CHECK(test::contains(error, "events.out.tfevents."));
}

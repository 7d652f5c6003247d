// SPDX-License-Identifier: Apache-2.0
// gzip streams of any size and piece size; damaged and truncated ones.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/io/scans/nifti_samples.h"
#include "ubique/base/numbers/random.h"
#include "ubique/io/archive/gzip.h"

using namespace ubique;
using test::gzipped;

namespace {

/// The whole content, read in pieces of that size.
std::string inflated(const std::string& file, std::size_t piece = 1000) {
  io::GzipReader reader(test::bytes_of(file), "x.gz");
  std::string content, buffer(piece, '\0');
  while (true) {
    const auto count = reader.read(std::as_writable_bytes(std::span(buffer)));
    content.append(buffer, 0, count);
    if (count < piece) return content;
  }
}

std::string gzip_error(const std::string& file) {
  return test::error_of([&] { inflated(file); });
}

std::string random_text(std::size_t size) {
  const Random random(3);
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(random.below(i, 17));
  return text;
}

std::string written(const std::string& content, std::size_t piece, int level = io::kGzipLevel) {
  std::string out;
  io::GzipWriter writer([&](std::span<const std::byte> bytes) { out += test::text_of(bytes); },
                        level);
  for (std::size_t i = 0; i < content.size(); i += piece) {
    writer.write(test::bytes_of(std::string_view(content).substr(i, piece)));
  }
  writer.finish();
  return out;
}

}  // namespace

TEST_CASE("gzip: contents of any length come back, in pieces of any size") {
  for (const std::size_t size : {0, 1, 999, 1000, 1001, 200'000}) {
    const auto content = random_text(size);
    const auto file = gzipped(content);
    CHECK(io::is_gzip(test::bytes_of(file)));
    for (const std::size_t piece : {1, 1000, 65'536, 300'000}) {
      if (size / piece < 10'000) CHECK(inflated(file, piece) == content);
    }
  }
}

TEST_CASE("gzip: members that follow each other are one content") {
  CHECK(inflated(gzipped("one") + gzipped("") + gzipped(" two")) == "one two");
}

TEST_CASE("gzip: what follows the last member is ignored") {
  CHECK(inflated(gzipped("one") + std::string(512, '\0')) == "one");
  CHECK(inflated(gzipped("one") + "rubbish") == "one");
  CHECK(inflated(gzipped("one") + "\x1f") == "one");
}

TEST_CASE("gzip: cut at any length, a stream is refused and said to be cut short") {
  const auto file = gzipped(random_text(400));
  for (std::size_t length = 0; length < file.size(); ++length) {
    CAPTURE(length);
    const auto error = gzip_error(file.substr(0, length));
    CHECK(error.starts_with("input: [io.gzip] x.gz is cut short"));
  }
}

TEST_CASE("gzip: a second member that is cut short is refused") {
  const auto second = gzipped("two");
  CHECK(test::contains(gzip_error(gzipped("one") + second.substr(0, second.size() - 1)),
                       "cut short; its gzip stream ends after 6 bytes"));
}

TEST_CASE("gzip: a wrong checksum or length is refused by name") {
  auto file = gzipped(random_text(400));
  file[file.size() - 6] = static_cast<char>(file[file.size() - 6] ^ 1);
  CHECK(
      test::contains(gzip_error(file), "checksum (CRC) does not fit; got 'incorrect data check'"));
  file = gzipped(random_text(400));
  file.back() = '\x7f';
  CHECK(test::contains(gzip_error(file), "'incorrect length check' at byte 400"));
}

TEST_CASE("gzip: with any byte changed, the content is the same or the stream is refused") {
  const auto content = random_text(300);
  const auto file = gzipped(content);
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (const unsigned change : {1U, 16U, 128U, 255U}) {
      auto changed = file;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ change);
      std::string found = content;
      const auto error = test::error_of([&] { found = inflated(changed); });
      CHECK((error == "no error" || error.starts_with("input: [io.gzip] x.gz")));
      CHECK(found == content);
    }
  }
}

TEST_CASE("gzip: the checksum is checked after the rest, up to a limit") {
  auto file = gzipped(random_text(500'000));
  file[file.size() - 6] = static_cast<char>(file[file.size() - 6] ^ 1);
  const auto error_after = [&](std::uint64_t limit) {
    io::GzipReader reader(test::bytes_of(file), "x.gz");
    std::array<std::byte, 10> start;
    reader.read(start);
    return test::error_of([&] { reader.check_rest(limit); });
  };
  CHECK(test::contains(error_after(1'000'000), "CRC"));
  CHECK(error_after(1000) == "no error");
}

TEST_CASE("gzip: no content is larger than what its size allows") {
  const auto file = gzipped(std::string(5'000'000, '\0'), 9);
  CHECK(io::most_inflated(file.size()) >= 5'000'000);
  CHECK(io::most_inflated(std::numeric_limits<std::uint64_t>::max()) ==
        std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("gzip: what is written, in pieces of any size and at any level, comes back") {
  for (const std::size_t size : {0, 1, 700'000}) {
    const auto content = random_text(size);
    for (const int level : {0, 1, 6, 9}) {
      CHECK(inflated(written(content, 65'537, level)) == content);
    }
  }
  CHECK(written(random_text(5000), 1) == written(random_text(5000), 5000));
  CHECK(written(random_text(5000), 5000, 9).size() < written(random_text(5000), 5000, 0).size());
}

TEST_CASE("gzip: an unknown level is refused") {
  CHECK(test::error_of([] { io::GzipWriter({}, 10); }).starts_with("usage: [io.gzip]"));
  CHECK(test::error_of([] { io::GzipWriter({}, -1); }).starts_with("usage: [io.gzip]"));
}

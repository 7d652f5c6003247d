// SPDX-License-Identifier: Apache-2.0
// Zip archives of other programs and our own: entries, zip64, alignment.
#include <doctest/doctest.h>

#include <cstring>

#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "ubique/base/numbers/random.h"
#include "ubique/io/archive/zip_deflate.h"
#include "ubique/io/archive/zip_reader.h"
#include "ubique/io/archive/zip_writer.h"
#include "zip_samples.h"

using namespace ubique;
using io::ZipReader;
using test::bytes_of;
using test::zip_of;

namespace {

std::string content(const ZipReader& zip, const std::string& name) {
  const auto* entry = zip.find(name);
  REQUIRE(entry != nullptr);
  return zip.read_text(*entry);
}

std::string noise(std::size_t size) {
  const Random random(5);
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(random.below(i, 256));
  return text;
}

}  // namespace

TEST_CASE("zip: stored and deflated entries are read, in the order of the list") {
  const auto file = zip_of({{"b/one", "first"}, {"a", "second", test::deflate_block("second")}});
  const ZipReader zip(bytes_of(file), "x.zip");
  REQUIRE(zip.entries().size() == 2);
  CHECK(zip.entries()[0].name == "b/one");
  CHECK_FALSE(zip.entries()[0].deflated);
  CHECK(zip.entries()[1].deflated);
  CHECK(content(zip, "b/one") == "first");
  CHECK(content(zip, "a") == "second");
  CHECK(zip.find("one") == nullptr);
}

TEST_CASE("zip: a stored entry is a view into the file, not a copy") {
  const auto file = zip_of({{"a", "values"}});
  const ZipReader zip(bytes_of(file), "x.zip");
  std::vector<std::byte> room;
  const auto view = zip.read(*zip.find("a"), room);
  CHECK(room.empty());
  CHECK(reinterpret_cast<const char*>(view.data()) == file.data() + file.find("values"));
}

TEST_CASE("zip: sizes behind the data, zip64 fields, comments and folders are understood") {
  const auto described = zip_of({{"a", "first", {}, 8}, {"b", "second"}});
  CHECK(content(ZipReader(bytes_of(described), "x"), "a") == "first");

  test::SampleEntry large{"a", "first"};
  large.zip64 = true;
  const auto zip64 = zip_of({large, {"b", "second"}}, true);
  CHECK(content(ZipReader(bytes_of(zip64), "x"), "a") == "first");
  CHECK(content(ZipReader(bytes_of(zip64), "x"), "b") == "second");

  auto commented = zip_of({{"a", "first"}, {"folder/", ""}});
  commented.replace(commented.size() - 2, 2, test::little(9, 2) + "a comment");
  const ZipReader zip(bytes_of(commented), "x");
  CHECK(zip.entries().size() == 1);
  CHECK(content(zip, "a") == "first");

  const auto none = zip_of({});
  CHECK(ZipReader(bytes_of(none), "x").entries().empty());
}

TEST_CASE("zip: what the writer stores and deflates, the reader gives back") {
  const test::ScratchFolder folder;
  const auto random = noise(100'000);
  const std::string zeros(1'000'000, '\0');
  {
    io::ZipWriter zip(folder / "x.zip");
    zip.store("folder/noise", random);
    zip.deflate("noise", bytes_of(random));
    zip.deflate("zeros", bytes_of(zeros));
    zip.deflate("nothing", {});
    zip.store("ümlaut", "text");
    zip.commit();
  }
  const auto file = read_file(folder / "x.zip");
  const ZipReader zip(bytes_of(file), "x.zip");
  REQUIRE(zip.entries().size() == 5);
  CHECK(content(zip, "folder/noise") == random);
  CHECK(content(zip, "noise") == random);
  CHECK(content(zip, "zeros") == zeros);
  CHECK(content(zip, "nothing").empty());
  CHECK(content(zip, "ümlaut") == "text");
  CHECK(zip.find("zeros")->packed < 2000);
}

TEST_CASE("zip: aligned entries begin at a multiple of 64, whatever lies before them") {
  const test::ScratchFolder folder;
  {
    io::ZipWriter zip(folder / "x.zip");
    for (std::size_t i = 0; i < 130; ++i) {
      zip.store("e" + std::string(i, 'x'), bytes_of(std::string(i, 'd')), 64);
    }
    zip.commit();
  }
  const auto file = read_file(folder / "x.zip");
  const ZipReader zip(bytes_of(file), "x.zip");
  REQUIRE(zip.entries().size() == 130);
  for (const auto& entry : zip.entries()) {
    CHECK(entry.begin % 64 == 0);
    CHECK(zip.read_text(entry) == std::string(entry.size, 'd'));
  }
}

TEST_CASE("zip: equal content gives equal bytes") {
  const test::ScratchFolder folder;
  for (const auto* name : {"a.zip", "b.zip"}) {
    io::ZipWriter zip(folder / name);
    zip.store("x", "1");
    zip.deflate("y", bytes_of("2222222222222222"));
    zip.commit();
  }
  CHECK(read_file(folder / "a.zip") == read_file(folder / "b.zip"));
}

TEST_CASE("zip: names that the reader would refuse are not written, and no file appears") {
  const test::ScratchFolder folder;
  for (const auto* name : {"", "../x", "/x", "a\\b", "a/../b", "c:x", "\xff"}) {
    CAPTURE(name);
    const auto error = test::refusal_of(ErrorKind::Input, [&] {
      io::ZipWriter zip(folder / "x.zip");
      zip.store(name, "text");
      zip.commit();
    });
    CHECK(test::contains(error, "cannot be named"));
  }
  CHECK(folder.count() == 0);
}

TEST_CASE("zip: deflated bytes must give exactly the promised size and end there") {
  const auto text = noise(5000);
  const auto packed = io::deflate_raw(bytes_of(text));
  CHECK(test::text_of(io::inflate_raw(packed, text.size()).value()) == text);
  CHECK_FALSE(io::inflate_raw(packed, text.size() - 1).has_value());
  CHECK_FALSE(io::inflate_raw(packed, text.size() + 1).has_value());
  CHECK_FALSE(io::inflate_raw(std::span(packed).first(packed.size() - 1), text.size()).has_value());
  auto longer = packed;
  longer.push_back(std::byte{0});
  CHECK_FALSE(io::inflate_raw(longer, text.size()).has_value());
  CHECK_FALSE(io::inflate_raw(bytes_of("\xff\xff\xff"), 3).has_value());
}

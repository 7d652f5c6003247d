// SPDX-License-Identifier: Apache-2.0
// Inconsistent and damaged archives: each gives an Input error that names the fault.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "ubique/io/archive/zip_reader.h"
#include "zip_samples.h"

using namespace ubique;
using test::SampleEntry;
using test::zip_of;

namespace {

/// Opens the archive and reads every entry.
std::string error_for_zip(const std::string& file) {
  return test::error_of([&] {
    const io::ZipReader zip(test::bytes_of(file), "bad.zip");
    for (const auto& entry : zip.entries()) {
      const auto text = zip.read_text(entry);  // not inside CHECK, which reports what it throws
      CHECK(text.size() == entry.size);
    }
  });
}

void check_refused(const std::string& what, const std::string& file, const std::string& message) {
  CAPTURE(what);
  const auto error = error_for_zip(file);
  CHECK(error.starts_with("input: [io.zip] bad.zip"));
  CHECK_MESSAGE(test::contains(error, message), error);
}

std::string two_pieces() {
  return zip_of({{"a", "first"}, {"b/c", "second", test::deflate_block("second"), 8}}, true);
}

}  // namespace

TEST_CASE("zip: names that leave the folder are refused") {
  for (const std::string name :
       {"../x", "a/../../x", "/etc/passwd", "a\\..\\b", "C:x", "..", "a\nb", "\xff\xfe", ""}) {
    check_refused(name, zip_of({{name, "x"}}), "a name that could leave its folder");
  }
  CHECK(error_for_zip(zip_of({{"a..b/...", "x"}})) == "no error");
}

TEST_CASE("zip: inconsistent entries are refused") {
  SampleEntry entry{"a", "first"};
  const auto with = [&](auto change) {
    auto changed = entry;
    change(changed);
    return zip_of({changed});
  };
  check_refused("encrypted", with([](auto& e) { e.flags = 1; }), "is encrypted");
  check_refused("method", with([](auto& e) { e.method = 12; }), "got 12, expected 0 (stored)");
  check_refused("CRC", with([](auto& e) { e.crc = 7; }), "wrong checksum; got");
  check_refused("stored size", with([](auto& e) { e.size = 500; }), "past its end");
  check_refused("name", with([](auto& e) { e.local_name = "b"; }),
                "own header and the list differ");
  check_refused("place", with([](auto& e) { e.offset = 3; }), "not where the list says");
  check_refused("far place", with([](auto& e) { e.offset = 0x7FFFFFFF; }), "past its end");
  auto deflated = SampleEntry{"a", "first", test::deflate_block("first")};
  deflated.size = 12'000;  // of 10 packed bytes
  deflated.packed->resize(10);
  auto lying = zip_of({deflated});
  // The list alone says how much comes out: 12,000 bytes from what is packed.
  lying.replace(lying.find("PK\x01\x02") + 20, 4, test::little(10, 4));
  check_refused("impossible size", lying, "has an impossible size; got 12000 bytes from 10");
}

TEST_CASE("zip: a deflated entry of another size than promised is refused") {
  auto file = zip_of({{"a", "first", test::deflate_block("first")}});
  file.replace(file.find("PK\x01\x02") + 24, 4, test::little(6, 4));
  check_refused("longer", file, "does not unpack; expected 6 bytes");
  file.replace(file.find("PK\x01\x02") + 24, 4, test::little(4, 4));
  check_refused("shorter", file, "does not unpack; expected 4 bytes");
}

TEST_CASE("zip: duplicates and overlaps are refused") {
  check_refused("twice", zip_of({{"a", "first"}, {"a", "second"}}),
                "two entries have the name 'a'");
  const auto first = test::local_record({"a", "first"});
  const auto list =
      test::central_record({"a", "first"}, 0) + test::central_record({"a", "first"}, 0);
  check_refused("the same place", first + list + test::end_record(2, list.size(), first.size()),
                "two entries overlap");
}

TEST_CASE("zip: a split archive, one after other data or with a wrong directory is refused") {
  auto parts = zip_of({{"a", "first"}});
  parts[parts.size() - 22 + 4] = 1;
  check_refused("parts", parts, "one part of several");
  check_refused("something in front", "PK.." + zip_of({{"a", "first"}}), "not where it should be");
  auto count = zip_of({{"a", "first"}});
  count[count.size() - 22 + 8] = count[count.size() - 22 + 10] = 2;
  check_refused("count", count, "has the wrong length");
  check_refused("no end", "PK\x03\x04" + std::string(200, 'x'), "its list of entries is missing");
  check_refused("another file", "\x89HDF\r\n\x1a\n" + std::string(50, 'x'), "an HDF5 file");
  check_refused("nothing", "", "is not a zip archive");
}

TEST_CASE("zip: cut at any length, an archive is refused") {
  const auto whole = two_pieces();
  CHECK(error_for_zip(whole) == "no error");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(error_for_zip(whole.substr(0, length)).starts_with("input: "));
  }
}

TEST_CASE("zip: with any byte changed, an archive is read in bounds or refused") {
  const auto whole = two_pieces();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (unsigned value = 0; value < 256; ++value) {
      auto changed = whole;
      changed[i] = static_cast<char>(value);
      const auto error = error_for_zip(changed);
      CHECK((error == "no error" || error.starts_with("input: ")));
    }
  }
}

TEST_CASE("zip: entries that would fill memory together are refused before they are unpacked") {
  // Claimed sizes that deflate could reach, but no real data do.
  const auto claiming = [](std::uint64_t size) {
    SampleEntry entry{"a", "", std::string(1'000'000, 'x')};
    entry.size = size;
    return entry;
  };
  const auto first = claiming(200'000'000);
  auto second = claiming(220'000'000);
  second.name = "b";
  const auto file = [](const std::vector<SampleEntry>& entries) {
    auto text = zip_of(entries);
    // common_fields writes one false size for both: the packed one is mended here.
    for (auto at = text.find("PK\x01\x02"); at != std::string::npos;
         at = text.find("PK\x01\x02", at + 1)) {
      text.replace(at + 20, 4, test::little(1'000'000, 4));
    }
    return text;
  };
  check_refused("together", file({first, second}), "would grow too much when unpacked");
  CHECK_FALSE(test::contains(error_for_zip(file({first})), "would grow too much"));
}

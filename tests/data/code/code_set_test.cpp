// SPDX-License-Identifier: Apache-2.0
// Folders of token documents: round trips, additions, damage.
#include "ubique/data/code/code_set.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "code_samples.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/fault.h"
#include "ubique/data/code/code_set_writer.h"
#include "ubique/data/code/tokenizer_hash.h"

using namespace ubique;

namespace {

namespace fs = std::filesystem;

void write_sample_set(const fs::path& folder, const io::Tokenizer& tokenizer,
                      std::int64_t vocabulary) {
  data::CodeSetWriter writer(folder, tokenizer, vocabulary);
  writer.add("train", {tokenizer.encode("int a;"), 0, {"a.c", "abc123", "file"}});
  writer.add("val", {tokenizer.encode("val"), 0, {"v.c", "", "file"}});
  writer.add("train", {tokenizer.encode("ask answer"), 3, {"say \"split\":\"val\"", "", "prompt"}});
  writer.header().options = {{"form", "both"}};
  writer.finish();
}

void overwrite(const fs::path& path, std::size_t at, std::uint64_t value, std::size_t bytes) {
  auto content = read_file(path);
  REQUIRE(content.size() >= at + bytes);
  std::memcpy(content.data() + at, &value, bytes);
  write_file(path, content);
}

std::string refusal_to_open(const fs::path& folder) {
  return test::refusal_of(ErrorKind::Input, [&] { const data::CodeSet set(folder); });
}

}  // namespace

TEST_CASE("code set: what is written is read again, with 2 and with 4 bytes per token") {
  const auto tokenizer = test::code_tokenizer();
  for (const auto vocabulary : {tokenizer.size(), std::int64_t{100000}}) {
    const test::ScratchFolder scratch;
    write_sample_set(scratch / "set", tokenizer, vocabulary);
    CHECK(data::is_code_set(scratch / "set"));
    const data::CodeSet train(scratch / "set"), val(scratch / "set", "val");
    REQUIRE(train.size() == 2);
    REQUIRE(val.size() == 1);
    CHECK(tokenizer.decode(train.document(0)) == "int a;");
    CHECK(tokenizer.decode(train.document(1)) == "ask answer");
    CHECK(train.prompt_length(1) == 3);
    CHECK(train.info(0) == data::DocumentInfo{"a.c", "abc123", "file"});
    CHECK(train.info(1).path == "say \"split\":\"val\"");
    CHECK(val.info(0).path == "v.c");
    CHECK(train.vocabulary() == vocabulary);
    CHECK(train.end_of_text() == 0);
    CHECK(train.tokenizer_hash() == data::tokenizer_hash(tokenizer));
    CHECK(train.fingerprint() != val.fingerprint());
    CHECK(train.header().options.at("form") == "both");
    CHECK(data::tokenizer_hash(io::read_tokenizer(scratch / "set/tokenizer")) ==
          train.tokenizer_hash());
    CHECK(fs::file_size(scratch / "set/val.bin") == (vocabulary > 65536 ? 12 : 6));
  }
}

TEST_CASE("code set: documents are added to a set, and a killed addition leaves it as it was") {
  const auto tokenizer = test::code_tokenizer();
  const test::ScratchFolder scratch;
  const auto folder = scratch / "set";
  write_sample_set(folder, tokenizer, tokenizer.size());
  const auto before = data::CodeSet(folder).fingerprint();
  const auto add = [&] {
    data::CodeSetWriter writer(folder, data::read_code_set_header(folder));
    writer.add("train", {tokenizer.encode("more"), 0, {"m.c", "", "file"}});
    writer.finish();
  };
  // The files are replaced one after the other; whichever was the last, the set stays readable.
  for (int hit = 1; hit < 40; ++hit) {
    arm_faults("*:" + std::to_string(hit) + "=throw");
    const auto message = test::error_of(add);
    arm_faults("");
    // The last fault comes after the last rename: then all of it is there.
    if (message == "no error" || data::CodeSet(folder).size() == 3) break;
    CHECK(data::CodeSet(folder).fingerprint() == before);
    CHECK(data::CodeSet(folder, "val").info(0).path == "v.c");
    CHECK(hit < 39);
  }
  const data::CodeSet set(folder);
  REQUIRE(set.size() == 3);
  CHECK(tokenizer.decode(set.document(2)) == "more");
  CHECK(set.info(2).path == "m.c");
  CHECK(set.fingerprint() != before);
}

TEST_CASE("code set: damaged and lying files are refused") {
  const auto tokenizer = test::code_tokenizer();
  const auto damaged = [&](const auto& damage) {
    const test::ScratchFolder scratch;
    write_sample_set(scratch / "set", tokenizer, tokenizer.size());
    damage(scratch / "set");
    return refusal_to_open(scratch / "set");
  };
  CHECK(test::contains(damaged([](const fs::path& f) { fs::resize_file(f / "train.bin", 4); }),
                       "too short"));
  CHECK(test::contains(damaged([](const fs::path& f) { fs::resize_file(f / "train.idx", 20); }),
                       "too short"));
  CHECK(test::contains(damaged([](const fs::path& f) { overwrite(f / "train.bin", 4, 5000, 2); }),
                       "token 2 is outside the vocabulary; got id 5000"));
  CHECK(test::contains(damaged([](const fs::path& f) { overwrite(f / "train.bin", 4, 70, 2); }),
                       "digest"));
  CHECK(test::contains(damaged([](const fs::path& f) { overwrite(f / "train.idx", 16, 400, 8); }),
                       "ends at token 400"));
  CHECK(test::contains(damaged([](const fs::path& f) { overwrite(f / "train.idx", 16, ~0ULL, 8); }),
                       "document 0 ends at token -1"));
  CHECK(test::contains(damaged([](const fs::path& f) { overwrite(f / "train.idx", 0, 3, 8); }),
                       "begins at token 3"));
  CHECK(test::contains(damaged([](const fs::path& f) { overwrite(f / "train.idx", 24, 90, 8); }),
                       "a prompt of 90"));
  CHECK(test::contains(damaged([](const fs::path& f) { write_file(f / "dataset.json", "{}"); }),
                       "other data"));
  CHECK(test::contains(damaged([](const fs::path& f) { fs::remove(f / "dataset.json"); }),
                       "no dataset.json"));
  const auto edited = [&](const std::string& from, const std::string& to) {
    return damaged([&](const fs::path& f) {
      auto text = read_file(f / "dataset.json");
      const auto at = text.find(from);
      REQUIRE(at != std::string::npos);
      write_file(f / "dataset.json", text.replace(at, from.size(), to));
    });
  };
  CHECK(test::contains(edited("\"tokens\": 16", "\"tokens\": -16"), "-16 tokens"));
  CHECK(test::contains(edited("\"tokens\": 16", "\"tokens\": 99999999999"), "too short"));
  CHECK(test::contains(edited("\"schema_version\": 1", "\"schema_version\": 9"), "newer program"));
  CHECK(test::contains(edited("\"bytes_per_token\": 2", "\"bytes_per_token\": 3"), "cannot be"));
}

TEST_CASE("code set: a folder with other files or another set is not written into") {
  const auto tokenizer = test::code_tokenizer();
  const test::ScratchFolder scratch;
  write_file(scratch / "thesis.txt", "precious");
  const auto open = [&](const fs::path& folder) {
    return test::refusal_of(ErrorKind::Usage, [&] {
      const data::CodeSetWriter writer(folder, tokenizer, tokenizer.size());
    });
  };
  CHECK(test::contains(open(scratch.path()), "thesis.txt"));
  write_sample_set(scratch / "set", tokenizer, tokenizer.size());
  CHECK(test::contains(open(scratch / "set"), "holds a data set"));
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage, [&] { data::CodeSet(scratch / "set", "test"); }),
      "expected train or val"));
}

TEST_CASE("code set: an id outside the vocabulary is refused by the writer") {
  const auto tokenizer = test::code_tokenizer();
  const test::ScratchFolder scratch;
  data::CodeSetWriter writer(scratch / "set", tokenizer, tokenizer.size());
  const auto message = test::refusal_of(ErrorKind::Input, [&] {
    writer.add("train", {{1, 2, 266}, 0, {"x.c", "", ""}});
  });
  CHECK(test::contains(message, "x.c: token 2 is outside the vocabulary; got id 266"));
}

TEST_CASE("tokenizer hash: depends on the content, not on how the file is written") {
  const auto tokenizer = test::code_tokenizer();
  const auto hash = data::tokenizer_hash(tokenizer);
  const auto again = io::parse_tokenizer_json(io::tokenizer_json(tokenizer.model()), "copy");
  CHECK(data::tokenizer_hash(again) == hash);
  auto model = tokenizer.model();
  std::reverse(model.vocabulary.begin(), model.vocabulary.end());
  CHECK(data::tokenizer_hash(io::Tokenizer(model)) == hash);
  model.split = {io::SplitStep::Words};
  CHECK(data::tokenizer_hash(io::Tokenizer(model)) != hash);
  model = tokenizer.model();
  std::swap(model.vocabulary[20].second, model.vocabulary[21].second);
  CHECK(data::tokenizer_hash(io::Tokenizer(model)) != hash);
  const auto plain = test::code_tokenizer({"<|other|>"});
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { (void)data::end_of_text(plain); }),
                       "no end-of-text"));
}

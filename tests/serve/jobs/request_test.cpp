// SPDX-License-Identifier: Apache-2.0
// From a client's JSON to a checked request, and from that to the words of a command line.
#include "ubique/serve/jobs/request.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/serve/table.h"
#include "ubique/base/text/text.h"
#include "ubique/serve/jobs/command_line.h"

using namespace ubique;
using namespace ubique::serve;
using test::contains;

namespace {

/// Reads requests; keeps texts as "upload:N" and knows the references that begin with "model:",
/// "upload:" or "library:".
struct Reader {
  CommandTable table{test::test_rows()};
  std::vector<std::string> kept;

  JobRequest read(const Json& json) {
    return read_request(json, table,
                        {.text =
                             [&](const std::string& name, const std::string& text) {
                               kept.push_back(name + "=" + text);
                               return "upload:" + std::to_string(kept.size());
                             },
                         .folder =
                             [&](const std::vector<std::string>& references) {
                               kept.push_back(join(references, "+"));
                               return "upload:" + std::to_string(kept.size());
                             }},
                        [](const std::string& reference) {
                          const bool known = reference.starts_with("model:") ||
                                             reference.starts_with("upload:") ||
                                             reference.starts_with("library:");
                          check(known, ErrorKind::Input, "[test] no such thing as '{}'", reference);
                        });
  }
  std::string refusal(const Json& json) {
    try {
      read(json);
    } catch (const Error& error) {
      CHECK(error.kind() != ErrorKind::Internal);
      return error.what();
    }
    return "accepted: " + json_text(json);
  }
  std::string words(const Json& json, bool resume = false) {
    const auto request = read(json);
    const auto& row = table.find(request.verb, request.family, request.name);
    const auto resolve = [](const std::string& reference) {
      return std::filesystem::path("/at") / reference;
    };
    return join(command_words(request, row, resolve, resume), " | ");
  }
  std::string shown(const Json& json) {
    const auto request = read(json);
    return shown_command(request, table.find(request.verb, request.family, request.name));
  }
};

Json song(const Json& options) {
  return {{"verb", "run"}, {"family", "acestep"}, {"model", "model:m"}, {"options", options}};
}

}  // namespace

TEST_CASE("request: options become words that no value can leave") {
  Reader reader;
  CHECK(reader.words(song({{"tags", "funk; $(reboot) `x` --device=cuda"}, {"seconds", 2.5}})) ==
        "run | acestep | --model=/at/model:m | --tags=funk; $(reboot) `x` --device=cuda | "
        "--seconds=2.5 | -o | out | --json");
  CHECK(reader.words(song({{"tags", "--help"}})) ==
        "run | acestep | --model=/at/model:m | --tags=--help | -o | out | --json");
  CHECK(reader.words({{"verb", "data"},
                      {"family", "meshnet"},
                      {"name", "synth"},
                      {"options", {{"count", 2}}}}) ==
        "data | meshnet | synth | --count=2 | -o | out | --json");
  CHECK(reader.words({{"verb", "doctor"}}) == "doctor | --json");
}

TEST_CASE("request: switches, lists and references have their forms") {
  Reader reader;
  CHECK(contains(reader.words(song({{"stereo", true}})), "| --stereo |"));
  CHECK(contains(reader.words(song({{"stereo", false}})), "| --no-stereo |"));
  CHECK(contains(reader.words(song({{"audio", "library:3/song.wav"}})),
                 "--audio=/at/library:3/song.wav"));
  const auto weighted = song({{"lora", Json::array({"library:4:0.75", "model:x:y", "model:x:1"})}});
  CHECK(contains(reader.words(weighted), "--lora=/at/library:4:0.75,/at/model:x:y,/at/model:x:1 "));
  CHECK(references_of(reader.read(weighted), reader.table).back() == "model:x");
  CHECK(contains(reader.refusal(song({{"lora", "nowhere:1"}})), "no such thing as 'nowhere'"));
  const Json training = {{"verb", "train"},
                         {"family", "trm"},
                         {"options", {{"data", Json::array({"upload:a", "upload:b"})}}}};
  CHECK(reader.words(training, true) ==
        "train | trm | --data=/at/upload:a,/at/upload:b | -o | out | --resume | --json");
}

TEST_CASE("request: short texts are kept as files once everything else is right") {
  Reader reader;
  const Json puzzle = {{"text", "1234"}, {"name", "mine.txt"}};
  Json request = {
      {"verb", "run"}, {"family", "trm"}, {"model", "model:m"}, {"inputs", Json::array({puzzle})}};
  CHECK(reader.words(request) ==
        "run | trm | /at/upload:1 | --model=/at/model:m | -o | out/solved.json | --json");
  CHECK(reader.kept == std::vector<std::string>{"mine.txt=1234"});
  request["options"] = {{"unknown", 1}};
  CHECK(contains(reader.refusal(request), "no option 'unknown'"));
  CHECK(reader.kept.size() == 1);
}

TEST_CASE("request: uploads and texts lie beside each other in a folder") {
  Reader reader;
  const Json words = {{"text", "saw"}, {"name", "a_prompt.txt"}};
  Json request = {{"verb", "run"}, {"family", "trm"}, {"model", "model:m"}};
  const auto with = [&](const Json& folder) {
    request["inputs"] = Json::array({{{"folder", folder}}});
    return request;
  };
  CHECK(reader.words(with(Json::array({"upload:a", words}))) ==
        "run | trm | /at/upload:2 | --model=/at/model:m | -o | out/solved.json | --json");
  CHECK(reader.kept == std::vector<std::string>{"a_prompt.txt=saw", "upload:a+upload:1"});
  for (const auto& wrong : {Json::array(), Json("upload:a"), Json::array({"model:m"}),
                            Json::array({1}), Json::array({{{"folder", Json::array()}}})}) {
    CHECK(contains(reader.refusal(with(wrong)), "folder"));
  }
  request["options"] = {{"unknown", 1}};
  CHECK(contains(reader.refusal(with(Json::array({"upload:a", words}))), "no option 'unknown'"));
  CHECK(reader.kept.size() == 2);
}

TEST_CASE("request: what is wrong is named, with what may have been meant") {
  Reader reader;
  CHECK(contains(reader.refusal({{"verb", "rnu"}}), "Did you mean 'run'?"));
  CHECK(contains(reader.refusal({{"verb", "run"}, {"family", "tmr"}}), "Did you mean 'trm'?"));
  CHECK(contains(reader.refusal(song({{"tgas", "x"}})), "Did you mean 'tags'?"));
  CHECK(contains(reader.refusal({{"verb", "run"}, {"family", "acestep"}}), "needs a model"));
  CHECK(contains(reader.refusal({{"verb", "run"}, {"family", "trm"}, {"model", "model:m"}}),
                 "needs inputs"));
  CHECK(contains(reader.refusal({{"verb", "doctor"}, {"model", "model:m"}}), "takes no model"));
  CHECK(contains(reader.refusal({{"verb", "doctor"}, {"colour", "red"}}), "unknown key"));
  CHECK(contains(reader.refusal(song({{"tags", Json::object()}})), "expected a number or a text"));
  CHECK(contains(reader.refusal(song({{"stereo", "yes"}})), "expected true or false"));
  CHECK(contains(reader.refusal(song({{"audio", "/etc/passwd"}})), "no such thing"));
  CHECK(contains(reader.refusal(song({{"tags", std::string("a\0b", 3)}})), "a zero"));
  CHECK(contains(reader.refusal(song({{"tags", std::string(70000, 'x')}})), "too long"));
  for (const auto& priority : {Json(101), Json(-2147483648LL), Json(4294967296LL), Json(1e300),
                               Json(0.5), Json("high"), Json(true)}) {
    CHECK(contains(reader.refusal({{"verb", "doctor"}, {"priority", priority}}), "-100 to 100"));
  }
}

TEST_CASE("request: options that run programs or say where to write are none of a job's") {
  Reader reader;
  CHECK(contains(reader.refusal(song({{"python", "upload:x"}})), "no option 'python'"));
  const Json training = {{"verb", "train"}, {"family", "trm"}, {"options", {{"resume", true}}}};
  CHECK(contains(reader.refusal(training), "no option 'resume'"));
}

TEST_CASE("request: what is stored is what was asked, and its files are known") {
  Reader reader;
  const auto request = reader.read({{"verb", "run"},
                                    {"family", "trm"},
                                    {"model", "model:m"},
                                    {"title", "mine"},
                                    {"inputs", Json::array({"upload:a"})},
                                    {"priority", -3}});
  CHECK(request_json(stored_request(request_json(request))) == request_json(request));
  CHECK(references_of(request, reader.table) == std::vector<std::string>{"upload:a", "model:m"});
  CHECK(usual_title(request) == "mine");
  CHECK(usual_title(reader.read(song({{"tags", "funk"}}))) == "run acestep: funk");
}

TEST_CASE("command line: the one for people can be pasted into a shell") {
  Reader reader;
  CHECK(reader.shown(song({{"tags", "it's funk"}, {"seed", 7}})) ==
        "ubique run acestep --model=model:m '--tags=it'\\''s funk' --seed=7 -o out --json");
}

TEST_CASE("command line: jobs wait for the device that they name") {
  Reader reader;
  const auto lane = [&](const Json& options) {
    const auto request = reader.read(song(options));
    return lane_of(request, reader.table.find("run", "acestep", ""), "cuda:0");
  };
  CHECK(lane(Json::object()) == "cuda:0");
  CHECK(lane({{"device", "auto"}}) == "cuda:0");
  CHECK(lane({{"device", "cpu"}}) == "cpu");
  CHECK(lane({{"device", "cuda:1"}}) == "cuda:1");
  CHECK(lane({{"device", "metal"}}) == "mps");
  CHECK(lane({{"device", " CUDA:01"}}) == "cuda:1");  // one card, however it is written
  for (const char* wrong : {"x1", "cuda:-1", "cuda:1.5", "cuda:99", "cpu:3", "cuda:", "cuda:0:1"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH_AS(lane({{"device", wrong}}), doctest::Contains("no such device"), Error);
  }
  const auto synth = reader.read({{"verb", "data"}, {"family", "meshnet"}, {"name", "synth"}});
  CHECK(lane_of(synth, reader.table.find("data", "meshnet", "synth"), "cuda:0") == "cpu");
  CHECK(library_kind(synth) == "data");
}

TEST_CASE("request: a download names a model of a hub, and nothing that could be a flag") {
  Reader reader;
  const auto pull = [](const Json& name) {
    return Json{{"verb", "pull"}, {"inputs", Json::array({name})}};
  };
  CHECK(reader.words(pull("hf:bigcode/tiny_starcoder_py@main")) ==
        "pull | hf:bigcode/tiny_starcoder_py@main | --json");
  for (const char* wrong : {"--help", "bigcode/tiny", "hf:", "hf:../..", "hf:a/b/c", "upload:1"}) {
    CAPTURE(wrong);
    CHECK(contains(reader.refusal(pull(wrong)), "no model of a hub"));
  }
  CHECK(contains(reader.refusal(pull({{"text", "hf:a/b"}})), "no model of a hub"));
}

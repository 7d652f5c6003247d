// SPDX-License-Identifier: Apache-2.0
// The index of a model in several files.
#include "ubique/io/tensors/safetensors_set.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"

using namespace ubique;

namespace {

std::string index_error(std::string_view text) {
  return test::error_of([&] { io::parse_safetensors_index(text, "bad.json"); });
}

std::string map_to(const std::string& file) { return R"({"weight_map":{"w":")" + file + "\"}}"; }

}  // namespace

TEST_CASE("safetensors index: names, files and size are read, other keys ignored") {
  const auto index = io::parse_safetensors_index(
      R"({"metadata":{"total_size":12,"total_parameters":[{"total_size":null}]},)"
      R"("weight_map":{"b":"2.safetensors","a":"1.safetensors","c":"2.safetensors"},)"
      R"("more":[1,{"weight_map":5,"metadata":"x"},"text",null,true,-1,1.5]})",
      "i");
  CHECK(index.weight_map == std::map<std::string, std::string>{{"a", "1.safetensors"},
                                                               {"b", "2.safetensors"},
                                                               {"c", "2.safetensors"}});
  CHECK(index.shards() == std::vector<std::string>{"1.safetensors", "2.safetensors"});
  CHECK(index.total_size == 12U);
}

TEST_CASE("safetensors index: the size may be missing, or written with a fraction") {
  CHECK(!io::parse_safetensors_index(R"({"weight_map":{}})", "i").total_size);
  CHECK(!io::parse_safetensors_index(R"({"metadata":{},"weight_map":{}})", "i").total_size);
  const auto text = R"({"metadata":{"total_size":1472000.0},"weight_map":{}})";
  CHECK(io::parse_safetensors_index(text, "i").total_size == 1472000U);
}

TEST_CASE("safetensors index: what is written is read, sorted and in ASCII") {
  io::SafetensorsIndex index;
  index.weight_map = {{"ö", "b"}, {"a", "c"}};
  index.total_size = 7;
  const auto text = io::safetensors_index_text(index);
  CHECK(text ==
        "{\n  \"metadata\": {\n    \"total_size\": 7\n  },\n  \"weight_map\": {\n"
        "    \"a\": \"c\",\n    \"\\u00f6\": \"b\"\n  }\n}\n");
  CHECK(io::parse_safetensors_index(text, "i").weight_map == index.weight_map);
}

TEST_CASE("safetensors index: paths that lead out of the folder are refused") {
  for (const std::string file :
       {"../x", "..", ".", "", "/etc/passwd", "a/b", "a\\\\b", "C:\\\\x", "x\\u0000y", "x\\ny"}) {
    CAPTURE(file);
    const auto error = index_error(map_to(file));
    CHECK(error.starts_with("input: [io.safetensors] bad.json: tensor 'w' lies in a file that"));
  }
  CHECK(index_error(map_to("..x.safetensors")) == "no error");
}

TEST_CASE("safetensors index: what is no index is refused, with the reason") {
  const std::string deep(100'000, '[');
  const std::pair<std::string, const char*> rows[] = {
      {"", "not JSON"},
      {"{", "not JSON"},
      {"[]", "got a list, expected an object with weight_map"},
      {"null", "got null"},
      {"7", "the index is wrong; got a number"},
      {"\"x\"", "the index is wrong; got a text"},
      {"{}", "has no weight_map"},
      {R"({"weight_map":[]})", "weight_map is wrong; got a list"},
      {R"({"weight_map":"x"})", "weight_map is wrong; got a text"},
      {R"({"weight_map":{"w":5}})", "the file of tensor 'w' is wrong; got a number"},
      {R"({"weight_map":{"w":null}})", "got null, expected a file name"},
      {R"({"weight_map":{"w":{}}})", "got an object, expected a file name"},
      {R"({"weight_map":{"w":["a"]}})", "got a list, expected a file name"},
      {R"({"weight_map":{"":"a"}})", "empty tensor name"},
      {R"({"weight_map":{"w":"a","w":"b"}})", "tensor 'w' is given twice"},
      {R"({"weight_map":{},"weight_map":{}})", "weight_map is given twice"},
      {R"({"metadata":{},"metadata":{}})", "metadata is given twice"},
      {R"({"metadata":{"total_size":1,"total_size":2}})", "metadata.total_size is given twice"},
      {R"({"metadata":5})", "metadata is wrong; got a number, expected an object"},
      {R"({"metadata":{"total_size":-1}})", "metadata.total_size is wrong; got a negative number"},
      {R"({"metadata":{"total_size":1e300}})", "metadata.total_size is wrong"},
      {R"({"metadata":{"total_size":"1"}})", "got a text, expected a number of bytes"},
      {R"({"x":)" + deep + "}", "nested too deeply"},
      {std::string("{\"weight_map\":{}}\0x", 18), "zero byte"},
  };
  for (const auto& [text, message] : rows) {
    CAPTURE(message);
    const auto error = index_error(text);
    CAPTURE(error);
    CHECK(error.starts_with("input: [io.safetensors] bad.json"));
    CHECK(test::contains(error, message));
  }
}

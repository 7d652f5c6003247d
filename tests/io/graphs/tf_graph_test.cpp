// SPDX-License-Identifier: Apache-2.0
// TensorFlow graphs: constants of frozen files and of a SavedModel's functions; inconsistent graphs
// are refused.
#include "ubique/io/graphs/tf_graph.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "tf_graph_samples.h"

using namespace ubique;
namespace tf = test::tf;

namespace {

io::TfGraph parsed_graph(const io::ProtoWriter& message, const io::TensorFilter& wanted = {}) {
  return io::parse_tf_graph(test::bytes_of(message.bytes()), "net.pb", wanted);
}

void check_refused_graph(const std::string& file, const std::string& message) {
  CAPTURE(message);
  const auto error = test::error_of([&] { io::parse_tf_graph(test::bytes_of(file), "net.pb"); });
  CHECK(error.starts_with("input: ["));
  CHECK(test::contains(error, "net.pb"));
  CHECK_MESSAGE(test::contains(error, message), error);
}

std::vector<float> floats_in(const io::HostTensor& tensor) {
  const auto* values = reinterpret_cast<const float*>(tensor.bytes.data());
  return {values, values + tensor.bytes.size() / sizeof(float)};
}

std::string four_floats() {
  const std::vector<float> values = {1, 2, 3, 4};
  return {reinterpret_cast<const char*>(values.data()), 16};
}

io::ProtoWriter sample_graph() {
  return tf::graph({tf::node("input", "Placeholder"),
                    tf::constant("conv/kernel", tf::raw_tensor(tf::kFloat, {2, 2}, four_floats())),
                    tf::constant("conv/bias", tf::float_tensor({3}, {5, 6})),
                    tf::resize("up/resize", true)});
}

}  // namespace

TEST_CASE(
    "tf_graph: constants come with names, shapes and values, nodes with their boolean attributes") {
  const auto graph = parsed_graph(sample_graph());
  REQUIRE(graph.constants.size() == 2);
  CHECK(graph.constants[0].name == "conv/kernel");
  CHECK(graph.constants[0].shape == io::Shape{2, 2});
  CHECK(floats_in(graph.constants[0]) == std::vector<float>{1, 2, 3, 4});
  CHECK(floats_in(graph.constants[1]) == std::vector<float>{5, 6, 6});  // the last one repeats
  REQUIRE(graph.nodes.size() == 4);
  CHECK(graph.nodes[0].op == "Placeholder");
  CHECK(graph.nodes[3].switches.at("half_pixel_centers"));
}

TEST_CASE("tf_graph: a SavedModel's constants are found within its functions") {
  const auto inside = tf::graph({tf::node("call", "PartitionedCall")},
                                {tf::constant("a/kernel", tf::float_tensor({1}, {7}))});
  const auto graph = parsed_graph(tf::saved_model(inside));
  REQUIRE(graph.constants.size() == 1);
  CHECK(floats_in(graph.constants[0]) == std::vector<float>{7});
  CHECK(graph.nodes[0].op == "PartitionedCall");
}

TEST_CASE("tf_graph: every numeric type is read, texts are skipped") {
  io::ProtoWriter integers, halves, text;
  integers.integer(1, tf::kInt32);
  integers.message(2, tf::shape_of({3}));
  const std::vector<std::int64_t> values = {-1, 300};
  integers.integers(7, values);
  integers.integer(7, 7);  // not packed
  halves.integer(1, tf::kHalf);
  halves.message(2, tf::shape_of({}));
  halves.integer(13, 0x3C00);
  text.integer(1, tf::kText);
  const auto graph = parsed_graph(
      tf::graph({tf::constant("i", integers), tf::constant("h", halves), tf::constant("t", text)}));
  REQUIRE(graph.constants.size() == 2);
  const auto* numbers = reinterpret_cast<const std::int32_t*>(graph.constants[0].bytes.data());
  CHECK(std::vector<std::int32_t>(numbers, numbers + 3) == std::vector<std::int32_t>{-1, 300, 7});
  CHECK(graph.constants[1].dtype == DType::F16);
  CHECK(graph.constants[1].shape.empty());
  CHECK((graph.constants[1].bytes == std::vector{std::byte{0}, std::byte{0x3C}}));
}

TEST_CASE("tf_graph: values are read only of selected constants") {
  const auto graph =
      parsed_graph(sample_graph(), [](const std::string& name) { return name == "conv/bias"; });
  CHECK(graph.constants[0].bytes.empty());
  CHECK(graph.constants[0].shape == io::Shape{2, 2});
  CHECK(graph.constants[1].bytes.size() == 12);
}

TEST_CASE("tf_graph: inconsistent constants are refused by name") {
  const auto with = [](const io::ProtoWriter& tensor) {
    return tf::graph({tf::constant("conv/kernel", tensor)}).bytes();
  };
  check_refused_graph(with(tf::raw_tensor(tf::kFloat, {2, 3}, four_floats())),
                      "'conv/kernel' cannot be read; got 16 bytes of values, expected 24");
  check_refused_graph(with(tf::raw_tensor(tf::kFloat, {-2}, "x")), "an extent is negative");
  constexpr auto kHuge = std::int64_t{1} << 40U;
  check_refused_graph(with(tf::float_tensor({kHuge, kHuge}, {1})), "larger than 2^63");
  check_refused_graph(with(tf::float_tensor({kHuge}, {1})), "repeats a value too often");
  check_refused_graph(with(tf::float_tensor({}, {1, 2})), "more values than elements");
  check_refused_graph(with(tf::float_tensor(io::Shape(65, 1), {1})), "more than 64 dimensions");
}

TEST_CASE("tf_graph: other files are refused with what they are") {
  check_refused_graph("", "no nodes");
  check_refused_graph("\x89HDF\r\n\x1a\n", "looks like an HDF5 file");
  check_refused_graph("hello world", "[io.protobuf]");
  io::ProtoWriter name;
  name.text(1, "\xff\xfe");
  io::ProtoWriter broken;
  broken.message(1, name);
  check_refused_graph(broken.bytes(), "no UTF-8");
}

TEST_CASE("tf_graph: cut or changed anywhere, a graph is read in bounds or refused") {
  const auto whole = tf::saved_model(sample_graph()).bytes();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto error = [&](const std::string& file) {
      return test::error_of([&] { io::parse_tf_graph(test::bytes_of(file), "net.pb"); });
    };
    CHECK(error(whole.substr(0, i)).starts_with("input: "));
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ static_cast<char>(1U << bit));
      const auto result = error(changed);
      CHECK((result == "no error" || result.starts_with("input: ")));
    }
  }
}

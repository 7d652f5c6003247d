// SPDX-License-Identifier: Apache-2.0
// Any bytes as an ONNX file: an Input error, or a model that survives being written and
// read again.
#include <set>
#include <span>
#include <string>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/graphs/onnx.h"

using namespace ubique;
using fuzz::require;

namespace {

/// The reader accepts two constants of one name, the writer does not.
bool is_writable(const io::OnnxModel& model) {
  std::set<std::string> names;
  for (const auto& tensor : model.constants) names.insert(tensor.name);
  return names.size() == model.constants.size();
}

}  // namespace

void fuzz::test_input(std::span<const std::byte> input) {
  const auto model = io::parse_onnx(input, "fuzz");
  if (!is_writable(model)) return;
  const auto written = io::onnx_bytes(model);
  const auto again = io::parse_onnx(fuzz::bytes_of(written), "again");
  require(again.nodes.size() == model.nodes.size());
  require(again.constants.size() == model.constants.size());
  for (std::size_t i = 0; i < model.constants.size(); ++i) {
    require(again.constants[i].bytes == model.constants[i].bytes);
  }
}

// SPDX-License-Identifier: Apache-2.0
// Any bytes as an ONNX file: an Input error, or a model that is written and read again as it was.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <span>
#include <string>

#include "ubique/base/error.h"
#include "ubique/io/graphs/onnx.h"

using namespace ubique;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// Two constants of one name are read, but nobody writes them.
bool is_writable(const io::OnnxModel& model) {
  std::set<std::string> names;
  for (const auto& tensor : model.constants) names.insert(tensor.name);
  return names.size() == model.constants.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto model = io::parse_onnx(std::as_bytes(std::span(data, size)), "fuzz");
    if (!is_writable(model)) return 0;
    const auto written = io::onnx_bytes(model);
    const auto again = io::parse_onnx(std::as_bytes(std::span(written)), "again");
    require(again.nodes.size() == model.nodes.size());
    require(again.constants.size() == model.constants.size());
    for (std::size_t i = 0; i < model.constants.size(); ++i) {
      require(again.constants[i].bytes == model.constants[i].bytes);
    }
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Input);
  }
  return 0;
}

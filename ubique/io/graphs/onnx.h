// SPDX-License-Identifier: Apache-2.0
// ONNX files, read and written: the graph as plain data. Operators are not interpreted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ubique/io/tensors/host_tensor.h"

namespace ubique::io {

/// A dimension of an input or output: a number, or a name if it is known only at run time.
using OnnxExtent = std::variant<std::int64_t, std::string>;

struct OnnxValue {
  std::string name;
  DType dtype = DType::F32;
  std::vector<OnnxExtent> shape;
};

using OnnxAttribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                                   std::vector<float>, HostTensor>;

struct OnnxNode {
  std::string op;                            ///< "Conv"
  std::string name;                          ///< may be empty
  std::vector<std::string> inputs, outputs;  ///< an empty name: an optional input that is absent
  std::map<std::string, OnnxAttribute> attributes;
};

struct OnnxModel {
  std::int64_t ir_version = 8;  ///< the one of opset 17
  std::int64_t opset = 17;
  std::string producer, producer_version;
  std::string name = "main";
  std::vector<OnnxValue> inputs, outputs;
  std::vector<OnnxNode> nodes;  ///< in topological order
  std::vector<HostTensor> constants;
  std::map<std::string, std::string> metadata;

  const HostTensor* constant(std::string_view name) const { return find_tensor(constants, name); }
};

struct OnnxWriteOptions {
  /// Protocol Buffers limit a file to 2 GiB: beyond this, the weights go into FILE.data beside it.
  std::int64_t most_bytes = (1LL << 31) - (1 << 20);
};

/// Atomic, FILE.data first.
void write_onnx(const std::filesystem::path& path, const OnnxModel& model,
                const OnnxWriteOptions& options = {});

/// The same in memory, weights included.
std::string onnx_bytes(const OnnxModel& model);

/// Input error for files that are no ONNX, damaged, have subgraphs or operators of other domains,
/// or take weights from a file that is not beside them.
OnnxModel read_onnx(const std::filesystem::path& path);
/// The same from memory, without weights in other files; error messages call the file `name`.
OnnxModel parse_onnx(std::span<const std::byte> bytes, const std::string& name);

}  // namespace ubique::io

// SPDX-License-Identifier: Apache-2.0
// ONNX files, read and written: the graph as plain data. Knows how a file is made, not what an
// operator computes.
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

/// An extent of an input or output: a number, or a name for what is known only at run time.
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
  std::vector<std::string> inputs, outputs;  ///< an empty name: an input left out
  std::map<std::string, OnnxAttribute> attributes;
};

struct OnnxModel {
  std::int64_t ir_version = 8;  ///< what opset 17 came with
  std::int64_t opset = 17;
  std::string producer, producer_version;
  std::string name = "main";
  std::vector<OnnxValue> inputs, outputs;
  std::vector<OnnxNode> nodes;  ///< each after those it takes values from
  std::vector<HostTensor> constants;
  std::map<std::string, std::string> metadata;

  const HostTensor* constant(std::string_view name) const { return find_tensor(constants, name); }
};

struct OnnxWriteOptions {
  /// A file larger than this cannot be read by anyone: weights then go into FILE.data beside it.
  std::int64_t most_bytes = (1LL << 31) - (1 << 20);
};

/// Atomic, FILE.data first.
void write_onnx(const std::filesystem::path& path, const OnnxModel& model,
                const OnnxWriteOptions& options = {});

/// The same in memory, with everything inside.
std::string onnx_bytes(const OnnxModel& model);

/// Input error for what is no ONNX file, is damaged, has subgraphs or operators of other domains,
/// or takes its weights from a file that is not beside it.
OnnxModel read_onnx(const std::filesystem::path& path);
/// The same from memory, without weights in other files; `name` stands for the file in messages.
OnnxModel parse_onnx(std::span<const std::byte> bytes, const std::string& name);

}  // namespace ubique::io

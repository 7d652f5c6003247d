// SPDX-License-Identifier: Apache-2.0
// TensorFlow graphs built field by field, so that the tests of the reader need no writer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ubique/io/archive/protobuf.h"
#include "ubique/io/tensors/host_tensor.h"

namespace ubique::test::tf {

inline constexpr int kFloat = 1, kInt32 = 3, kHalf = 19, kText = 7;

inline io::ProtoWriter shape_of(const io::Shape& shape) {
  io::ProtoWriter out;
  for (const auto extent : shape) {
    io::ProtoWriter dim;
    dim.integer(1, extent);
    out.message(2, dim);
  }
  return out;
}

/// A TensorProto with raw bytes.
inline io::ProtoWriter raw_tensor(int type, const io::Shape& shape, std::string_view bytes) {
  io::ProtoWriter out;
  out.integer(1, type);
  out.message(2, shape_of(shape));
  out.text(4, bytes);
  return out;
}

/// A TensorProto with a list of floats; the last one is repeated to fill the shape.
inline io::ProtoWriter float_tensor(const io::Shape& shape, const std::vector<float>& values) {
  io::ProtoWriter out;
  out.integer(1, kFloat);
  out.message(2, shape_of(shape));
  out.reals(5, values);
  return out;
}

inline io::ProtoWriter attribute(const std::string& key, const io::ProtoWriter& value) {
  io::ProtoWriter out;
  out.text(1, key);
  out.message(2, value);
  return out;
}

inline io::ProtoWriter node(const std::string& name, const std::string& op,
                            const std::vector<io::ProtoWriter>& attributes = {}) {
  io::ProtoWriter out;
  out.text(1, name);
  out.text(2, op);
  for (const auto& each : attributes) out.message(5, each);
  return out;
}

inline io::ProtoWriter constant(const std::string& name, const io::ProtoWriter& tensor) {
  io::ProtoWriter value;
  value.message(8, tensor);
  return node(name, "Const", {attribute("value", value)});
}

inline io::ProtoWriter constant(const io::HostTensor& tensor) {
  const auto* bytes = reinterpret_cast<const char*>(tensor.bytes.data());
  return constant(tensor.name, raw_tensor(kFloat, tensor.shape, {bytes, tensor.bytes.size()}));
}

inline io::ProtoWriter resize(const std::string& name, bool half_pixel) {
  io::ProtoWriter value;
  value.integer(5, half_pixel ? 1 : 0);
  return node(name, "ResizeBilinear", {attribute("half_pixel_centers", value)});
}

/// A GraphDef; the nodes in `functions` belong to one function of its library.
inline io::ProtoWriter graph(const std::vector<io::ProtoWriter>& nodes,
                             const std::vector<io::ProtoWriter>& functions = {}) {
  io::ProtoWriter out, function, library;
  for (const auto& each : nodes) out.message(1, each);
  for (const auto& each : functions) function.message(3, each);
  library.message(1, function);
  if (!functions.empty()) out.message(2, library);
  return out;
}

inline io::ProtoWriter saved_model(const io::ProtoWriter& graph_def) {
  io::ProtoWriter meta, out;
  meta.message(2, graph_def);
  out.integer(1, 1);
  out.message(2, meta);
  return out;
}

}  // namespace ubique::test::tf

// SPDX-License-Identifier: Apache-2.0
// Adds the ONNX nodes of a graph's steps in order. The operators of pictures are lowered in
// onnx_pictures.cpp, those of language models in onnx_language.cpp.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ubique/export/onnx.h"

namespace ubique::exporting {

io::HostTensor f32_tensor(std::string name, io::Shape shape, const std::vector<float>& values);

class OnnxLowering {
 public:
  OnnxLowering(const engine::Graph& graph, const OnnxOptions& options)
      : graph_(graph), half_(options.dtype == DType::F16), options_(options) {}

  io::OnnxModel run();

 private:
  void add_inputs();
  void add_outputs();
  void add_picture_output();
  bool gives_labels() const;
  /// Of inputs and outputs.
  DType outer() const { return half_ && options_.half_io ? DType::F16 : DType::F32; }

  void choose_precision();
  bool needs_whole_precision() const;
  std::string in_precision(const std::string& value);

  /// Adds a node and gives the name of its output.
  std::string add(const std::string& op, std::vector<std::string> inputs, const std::string& output,
                  std::map<std::string, io::OnnxAttribute> attributes = {});
  std::string cast(const std::string& value, const std::string& output, bool to_half);
  std::string constant(io::HostTensor tensor,
                       const std::string& name);  ///< in the step's precision
  std::string number(float value, const std::string& name);
  std::string integer(std::int64_t value, const std::string& name);  ///< without axes
  std::string integers(const std::vector<std::int64_t>& values, const std::string& name);
  std::string own(const char* part) const { return step_->name + "." + part; }
  std::size_t spatial_dims() const { return graph_.input_shape.size() - 2; }
  std::string quantised(const io::HostTensor& weight, const std::string& output);

  void lower(const engine::GraphConv& conv);
  void lower(const engine::GraphBatchNorm& norm);
  void lower(const engine::GraphInstanceNorm& norm);
  void lower(const engine::GraphActivation& activation);
  void lower_gelu();
  void lower_gelu_tanh();
  void finish_gelu(const std::string& curve);
  void lower(const engine::GraphSoftmax&);
  void lower(const engine::GraphArgmax&);
  void lower(const engine::GraphResize& resize);
  void lower(const engine::GraphMinMax& op);
  void lower(const engine::GraphUpsample& op);
  void lower(const engine::GraphMaxPool& op);
  void lower(const engine::GraphSubtract& op);
  void lower(const engine::GraphConcat&);
  void lower(const engine::GraphGlobalMean&);
  void lower(const engine::GraphSpread&);

  void lower(const engine::GraphGather& gather);
  void lower(const engine::GraphLinear& linear);
  void lower(const engine::GraphTiedLinear& linear);
  void multiply(const std::string& matrix, const std::optional<io::HostTensor>& bias);
  void lower(const engine::GraphLayerNorm& norm);
  void lower(const engine::GraphRmsNorm& norm);
  void lower(const engine::GraphSilu&);
  void lower(const engine::GraphAdd&);
  void lower(const engine::GraphMultiply&);
  void lower(const engine::GraphHeads& heads);
  void lower(const engine::GraphAngles& angles);
  void lower(const engine::GraphRotate& rotate);
  std::string last_axis_part(const std::string& value, std::int64_t from, std::int64_t to,
                             const char* part);
  void lower(const engine::GraphAppend&);
  void lower(const engine::GraphCausalMask& mask);
  void lower(const engine::GraphAttention& attention);

  const engine::Graph& graph_;
  bool half_, in_half_ = false;  // f16 in the model, and in this step
  OnnxOptions options_;
  io::OnnxModel model_;
  std::map<std::string, std::string> names_;
  const engine::GraphStep* step_ = nullptr;
  std::vector<std::string> inputs_;
  std::string input_;                    // the first of inputs_
  std::set<std::string> halves_, cast_;  // values in f16, and outputs of casts
  std::set<std::string> exact_;          // values that are no real numbers: ids, masks
  std::int64_t channels_ = 1;
  std::optional<std::vector<io::OnnxExtent>> resized_;
};

}  // namespace ubique::exporting

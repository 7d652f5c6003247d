// SPDX-License-Identifier: Apache-2.0
// Writes ONNX files and TensorFlow.js folders, and checks them.
#include "ubique/export/write.h"

#include <ATen/ATen.h>

#include "ubique/base/files/file.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/export/onnx_run.h"
#include "ubique/export/onnx_runtime.h"
#include "ubique/export/tfjs.h"
#include "ubique/export/tfjs_run.h"

namespace ubique::exporting {
namespace {

namespace fs = std::filesystem;

void write_sidecar_files(const engine::GraphExport& model, const fs::path& folder) {
  if (!model.sidecar_files) return;
  const auto whole = fs::absolute(folder / "").lexically_normal();  // "out/" and "." have names too
  for (const auto& [name, text] : model.sidecar_files(whole.parent_path().filename().string())) {
    write_file(folder / name, text);
  }
}

std::vector<io::HostTensor> sample_inputs(const engine::GraphExport& model) {
  return model.inputs.empty() ? std::vector{model.input} : model.inputs;
}

CheckedFile compare_exported(const std::map<std::string, at::Tensor>& got,
                             const engine::GraphExport& model, DType dtype, const char* place) {
  return model.outputs.empty() ? compare_outputs(got.at("output"), model, dtype, place)
                               : compare_named_outputs(got, model, dtype, place);
}

}  // namespace

CheckedFile export_onnx(const engine::GraphExport& model, const OnnxOptions& options,
                        const fs::path& path, const std::string& python) {
  const auto place = "export.onnx";
  CheckedFile result;
  engine::write_checked(path, place, [&] {
    io::write_onnx(path, to_onnx(model.graph, options));
    const auto samples = sample_inputs(model);
    std::map<std::string, at::Tensor> inputs;
    for (const auto& sample : samples) inputs[sample.name] = engine::torch_tensor(sample);
    result = compare_exported(run_onnx(io::read_onnx(path), inputs), model, options.dtype, place);
    if (python.empty()) return;
    const auto got = run_onnx_runtime(path, samples, python);
    if (!got) return;
    result = compare_exported(*got, model, options.dtype, place);
    result.runtime = "ONNX Runtime";
  });
  result.bytes = size_of_files(path);
  return result;
}

CheckedFile export_tfjs(const engine::GraphExport& model, DType dtype, const fs::path& folder) {
  const auto place = "export.tfjs";
  CheckedFile result;
  engine::write_checked(folder, place, [&] {
    const auto layers = to_tfjs(model.graph, dtype);
    io::write_tfjs(folder, layers.document, layers.weights);
    write_sidecar_files(model, folder);
    const auto output = run_tfjs(io::read_tfjs(folder), engine::torch_tensor(model.input));
    result = compare_outputs(output, model, dtype, place);
  });
  result.bytes = size_of_files(folder);
  return result;
}

}  // namespace ubique::exporting

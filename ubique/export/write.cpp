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

}  // namespace

CheckedFile export_onnx(const engine::GraphExport& model, const OnnxOptions& options,
                        const fs::path& path, const std::string& python) {
  const auto place = "export.onnx";
  CheckedFile result;
  engine::write_checked(path, place, [&] {
    io::write_onnx(path, to_onnx(model.graph, options));
    const auto output = run_onnx(io::read_onnx(path), engine::torch_tensor(model.input));
    result = compare_outputs(output, model, options.dtype, place);
    if (python.empty()) return;
    const auto got = run_onnx_runtime(path, model.input, python);
    if (!got) return;
    result = compare_outputs(*got, model, options.dtype, place);
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

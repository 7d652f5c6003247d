// SPDX-License-Identifier: Apache-2.0
#include "ubique/export/write.h"

#include <ATen/ATen.h>

#include "ubique/base/files/file.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/export/onnx_run.h"
#include "ubique/export/onnx_runtime.h"
#include "ubique/export/tfjs.h"
#include "ubique/export/tfjs_run.h"

namespace ubique::exporting {
namespace {

namespace fs = std::filesystem;

void write_companions(const engine::GraphExport& model, const fs::path& folder) {
  for (const auto& [name, text] : model.companions) write_file(folder / name, text);
}

}  // namespace

CheckedFile export_onnx(const engine::GraphExport& model, const OnnxOptions& options,
                        const fs::path& path, const std::string& python) {
  const auto place = "export.onnx";
  return write_checked(
      path, place, [&] { io::write_onnx(path, to_onnx(model.graph, options)); },
      [&] {
        auto result =
            compare_outputs(run_onnx(io::read_onnx(path), engine::torch_tensor(model.input)), model,
                            options.dtype, place);
        if (python.empty()) return result;
        const auto got = run_onnx_runtime(path, model.input, python);
        if (!got) return result;
        result = compare_outputs(*got, model, options.dtype, place);
        result.runtime = "ONNX Runtime";
        return result;
      });
}

CheckedFile export_tfjs(const engine::GraphExport& model, DType dtype, const fs::path& folder) {
  const auto place = "export.tfjs";
  return write_checked(
      folder, place,
      [&] {
        const auto layers = to_tfjs(model.graph, dtype);
        io::write_tfjs(folder, layers.document, layers.weights);
        write_companions(model, folder);
      },
      [&] {
        return compare_outputs(run_tfjs(io::read_tfjs(folder), engine::torch_tensor(model.input)),
                               model, dtype, place);
      });
}

}  // namespace ubique::exporting

// SPDX-License-Identifier: Apache-2.0
// A Python script that runs the model on .npy files.
#include "ubique/export/onnx_runtime.h"

#include <ATen/ATen.h>
#include <unistd.h>

#include "ubique/base/error.h"
#include "ubique/base/files/process.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/io/arrays/npz.h"

namespace ubique::exporting {
namespace {

namespace fs = std::filesystem;

constexpr int kNotInstalled = 9;

constexpr const char* kScript = R"py(
import sys
try:
    import numpy, onnxruntime
except ImportError:
    sys.exit(9)
model, given, result = sys.argv[1:]
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
half = session.get_inputs()[0].type == "tensor(float16)"
image = numpy.load(given).astype(numpy.float16 if half else numpy.float32)
output = session.run(["output"], {
  "input" : image})[0]
numpy.save(result, output.astype(numpy.float32) if output.dtype == numpy.float16 else output)
)py";

/// Removed at the end of its scope.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    auto name = (fs::temp_directory_path() / "ubique-verify-XXXXXX").string();
    check(::mkdtemp(name.data()) != nullptr, ErrorKind::Input,
          "[export.onnx] no temporary folder can be made in {}.",
          fs::temp_directory_path().string());
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  fs::path path;
};

}  // namespace

std::optional<at::Tensor> run_onnx_runtime(const fs::path& model, const io::HostTensor& input,
                                           const std::string& python) {
  const TemporaryFolder folder;
  const auto given = folder.path / "input.npy", result = folder.path / "output.npy";
  io::write_npy(given, input);
  const auto code =
      run_program({python, "-c", kScript, model.string(), given.string(), result.string()});
  if (!code || *code == kNotInstalled) return std::nullopt;
  check(*code == 0 && fs::exists(result), ErrorKind::Parity,
        "[export.onnx] ONNX Runtime does not run what was written (its process ended with {}). "
        "Nothing was kept.",
        *code);
  return engine::torch_tensor(io::read_npy(result));
}

}  // namespace ubique::exporting

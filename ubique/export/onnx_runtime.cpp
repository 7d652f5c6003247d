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
model, folder = sys.argv[1:]
types = {"tensor(float16)": numpy.float16, "tensor(float)": numpy.float32, "tensor(int64)": numpy.int64}
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
given = {value.name: numpy.load(f"{folder}/{value.name}.npy").astype(types[value.type]) for value in session.get_inputs()}
names = [value.name for value in session.get_outputs()]
for name, value in zip(names, session.run(names, given)):
    numpy.save(f"{folder}/{name}.npy", value.astype(numpy.float32) if value.dtype == numpy.float16 else value)
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

std::optional<std::map<std::string, at::Tensor>> run_onnx_runtime(
    const fs::path& model, const std::vector<io::HostTensor>& inputs, const std::string& python) {
  const TemporaryFolder folder;
  for (const auto& input : inputs) io::write_npy(folder.path / (input.name + ".npy"), input);
  const auto code =
      run_program({python, "-c", kScript, fs::absolute(model).string(), folder.path.string()});
  if (!code || *code == kNotInstalled) return std::nullopt;
  check(*code == 0, ErrorKind::Parity,
        "[export.onnx] ONNX Runtime does not run what was written (its process ended with {}). "
        "Nothing was kept.",
        *code);
  std::map<std::string, at::Tensor> values;
  for (const auto& file : fs::directory_iterator(folder.path)) {
    values[file.path().stem().string()] = engine::torch_tensor(io::read_npy(file.path()));
  }
  return values;
}

}  // namespace ubique::exporting

// SPDX-License-Identifier: Apache-2.0
// Exports of models for other runtimes: ONNX files, TensorFlow.js folders, and a web page with the
// model inside. Each is read back and computed before the export succeeds.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/export/check.h"
#include "ubique/export/onnx.h"

namespace ubique::exporting {

/// Each throws a Parity error, and leaves nothing behind, if the exported file's output differs
/// from the model's; a Usage error if `path` exists. Sidecar files are written beside the model.

/// `python`: also checks with the ONNX Runtime of that Python, if it has one; empty: does not.
CheckedFile export_onnx(const engine::GraphExport& model, const OnnxOptions& options,
                        const std::filesystem::path& path, const std::string& python = {});

/// FOLDER/model.json, model.bin; weights in F32, F16 or U8.
CheckedFile export_tfjs(const engine::GraphExport& model, DType dtype,
                        const std::filesystem::path& folder);

/// `page` (a built page, page_folder()) copied to FOLDER, and the model in FOLDER/models/NAME. If
/// FOLDER is such a page already, the model is added to its list. `weights`: F32, or F16 if the
/// page uses only ONNX.
CheckedFile export_web(const engine::GraphExport& model, DType weights,
                       const std::filesystem::path& page, const std::filesystem::path& folder);

/// The built page of that name: $UBIQUE_WEB, beside an installed program, or in the build folder.
/// Usage error that says how to make it.
std::filesystem::path page_folder(const std::string& name);

}  // namespace ubique::exporting

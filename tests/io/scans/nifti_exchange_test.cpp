// SPDX-License-Identifier: Apache-2.0
// The C++ half of tests/peers/nifti_test.py: reads every scan of a folder that nibabel wrote and
// leaves the results (facts as JSON, values as f32, a copy) for comparison.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/io/scans/nifti.h"

using namespace ubique;
namespace fs = std::filesystem;

namespace {

nlohmann::json facts_of(const io::NiftiHeader& header) {
  const char* sources[] = {"sform", "qform", "spacing"};
  return {{"version", header.version},
          {"swapped", header.swapped},
          {"dtype", to_string(header.dtype)},
          {"shape", header.shape},
          {"volumes", header.volumes},
          {"spacing", header.spacing},
          {"slope", header.slope},
          {"inter", header.inter},
          {"scaled", header.scaled},
          {"affine", header.affine},
          {"source", sources[static_cast<int>(header.affine_source)]},
          {"qform_code", header.qform_code},
          {"sform_code", header.sform_code},
          {"description", header.description}};
}

nlohmann::json examine(const fs::path& scan, const fs::path& out) {
  try {
    const auto image = io::read_nifti(scan);
    const auto values = io::to_f32(image);
    AtomicFile file(out.string() + ".f32");
    file.write(std::as_bytes(std::span(values)));
    file.commit();
    io::write_nifti(out.string() + ".copy.nii.gz", image.header, image.header.dtype, image.bytes);
    return facts_of(image.header);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Input);
    return {{"error", error.what()}};
  }
}

}  // namespace

TEST_CASE("nifti exchange: every scan of the folder that a peer filled is read and copied") {
  const char* folder = std::getenv("UBIQUE_NIFTI_EXCHANGE");
  if (folder == nullptr) {
    MESSAGE("skipped: UBIQUE_NIFTI_EXCHANGE names no folder (tests/peers/nifti_test.py does)");
    return;
  }
  int count = 0;
  for (const auto& scan : fs::directory_iterator(fs::path(folder) / "in")) {
    const auto name = scan.path().filename().string();
    if (name.find(".img") != std::string::npos) continue;
    const auto out = fs::path(folder) / "out" / name;
    write_file(out.string() + ".json", examine(scan.path(), out).dump());
    ++count;
  }
  CHECK(count > 0);
}

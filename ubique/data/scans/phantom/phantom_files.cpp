// SPDX-License-Identifier: Apache-2.0
// Writes a folder of synthetic heads in the layout of a small study. The options are written first
// and the manifests last, so that an interrupted run resumes where it stopped.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"
#include "ubique/data/scans/phantom/phantom.h"
#include "ubique/data/scans/study/manifest.h"
#include "ubique/data/scans/volume/scan.h"
#include "ubique/data/scans/volume/strided.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

constexpr int kPhantomVersion = 1;  // incremented when the same options give other heads
constexpr const char* kNoteName = "phantoms.json";
constexpr const char* kTissueManifestName = "dataset_info_tissue.json";

Json note_of(const PhantomOptions& options) {
  auto note = json_document("phantoms", kPhantomVersion);
  note["seed"] = options.seed;
  note["size"] = options.size;
  note["field_of_view"] = options.field_of_view;
  note["contrast"] = to_string(options.contrast);
  note["varied_grids"] = options.varied_grids;
  note["noise"] = options.noise;
  note["bias"] = options.bias;
  return note;
}

/// Creates the folder, or checks that an earlier run with the same options did.
void claim_folder(const fs::path& folder, const PhantomOptions& options) {
  std::error_code error;
  const auto note = note_of(options);
  if (fs::exists(folder / kNoteName, error)) {
    const auto path = (folder / kNoteName).string();
    check(parse_json(read_file(path, 1 << 20), path) == note, ErrorKind::Usage,
          "[data.phantom] {} holds heads of other options (see {}); expected the same seed, size, "
          "field of view, contrast, grids, noise and bias. Choose another folder, or remove this "
          "one.",
          folder.string(), kNoteName);
  } else {
    const bool taken = fs::exists(folder, error) && !fs::is_empty(folder, error);
    check(!taken, ErrorKind::Usage,
          "[data.phantom] {} is not empty and holds no synthetic heads; expected a new folder, so "
          "that nothing is overwritten.",
          folder.string());
  }
  for (const auto* part : {"images", "masks", "labels"}) {
    fs::create_directories(folder / part, error);
    check(!error, ErrorKind::Input, "[data.phantom] cannot make the folder {}; {}.",
          (folder / part).string(), error.message());
  }
  if (!fs::exists(folder / kNoteName, error)) {
    write_file(folder / kNoteName, json_text(note, 2) + "\n");
  }
}

io::NiftiHeader header_of(const Volume& volume) {
  io::NiftiHeader header;
  header.shape = volume.shape;
  header.affine = volume.affine;
  header.spacing = spacing_of(volume.affine);
  header.qform_code = header.sform_code = 1;
  header.description = "ubique phantom: a made-up head, no person";
  return header;
}

/// int16 with 12 bits used, as scanners store images.
void write_image(const fs::path& path, const Volume& image) {
  const auto [least, most] = std::ranges::minmax_element(image.values);
  const auto inter = static_cast<float>(std::floor(*least) - 16);  // stored values start above 0
  const float slope = std::max(*most - inter, 1.0F) / 4095;
  std::vector<std::int16_t> levels(image.values.size()), stored(levels.size());
  std::ranges::transform(image.values, levels.begin(), [&](float value) {
    return static_cast<std::int16_t>(std::nearbyint((value - inter) / slope));
  });
  const auto& shape = image.shape;  // the file has i fastest: axes reversed
  const auto strides = dense_strides(shape);
  const Shape3 reversed{shape[2], shape[1], shape[0]};
  copy_strided(levels.data(), {strides[2], strides[1], strides[0]}, reversed, stored.data(),
               dense_strides(reversed));
  io::write_nifti(path, header_of(image), DType::I16, std::as_bytes(std::span(stored)), 1,
                  {slope, inter});
}

struct HeadFiles {
  fs::path image, mask, labels;
};

HeadFiles files_of(const fs::path& folder, const std::string& id) {
  const auto name = id + ".nii.gz";
  return {folder / "images" / name, folder / "masks" / name, folder / "labels" / name};
}

/// Lesion voxels of a head that an earlier run has finished; -1 if it has to be generated.
std::int64_t finished_head(const HeadFiles& files) {
  std::error_code ignored;
  for (const auto* path : {&files.image, &files.mask, &files.labels}) {
    if (!fs::exists(*path, ignored)) return -1;
  }
  try {
    const auto mask = read_scan(files.mask);
    const bool fits = read_scan(files.image).volume.shape == mask.volume.shape &&
                      read_scan(files.labels).volume.shape == mask.volume.shape;
    if (fits) return std::ranges::count_if(mask.volume.values, [](float v) { return v > 0; });
  } catch (const Error& error) {
    log::warn("[data.phantom] a head is generated again: {}", error.what());
  }
  return -1;
}

std::int64_t write_head(const HeadFiles& files, const Phantom& phantom) {
  const auto header = header_of(phantom.image);
  write_labels(files.labels, phantom.tissue, header);
  write_labels(files.mask, phantom.mask, header);
  write_image(files.image, phantom.image);
  return std::ranges::count(phantom.mask.values, 1);
}

}  // namespace

Cohort write_phantoms(const fs::path& folder, const PhantomOptions& options,
                      const PhantomProgress& progress) {
  check(options.count >= 1 && options.count <= 100'000, ErrorKind::Usage,
        "[data.phantom] got {} heads, expected 1 to 100000.", options.count);
  claim_folder(folder, options);
  Cohort cohort;
  cohort.root = fs::absolute(folder).lexically_normal();
  cohort.source = "manifest";
  for (std::int64_t index = 0; index < options.count; ++index) {
    Subject subject;
    subject.id = phantom_id(index);
    subject.acquisition = phantom_acquisition(options, index);
    const auto files = files_of(cohort.root, subject.id);
    subject.lesion_voxels = finished_head(files);
    if (subject.lesion_voxels < 0) {
      subject.lesion_voxels = write_head(files, make_phantom(options, index));
    }
    subject.image = files.image;
    subject.mask = files.mask;
    cohort.subjects.push_back(std::move(subject));
    if (progress) progress(index + 1, options.count);
  }
  auto tissues = cohort;
  for (auto& subject : tissues.subjects) {
    subject.mask = files_of(cohort.root, subject.id).labels;
  }
  write_manifest(cohort.root / kTissueManifestName, tissues);
  write_manifest(cohort.root / kManifestName, cohort);
  return cohort;
}

}  // namespace ubique::data

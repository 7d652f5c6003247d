// SPDX-License-Identifier: Apache-2.0
// Reads, checks and writes dataset_info.json.
#include "ubique/data/scans/study/manifest.h"

#include <set>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/data/scans/study/npz_sample.h"
#include "ubique/data/scans/volume/scan_name.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostManifestBytes = 64LL << 20;
constexpr int kFoldersAbove = 5;

/// The parsed document; checks each array and value as it is read.
class ManifestReader {
 public:
  explicit ManifestReader(const fs::path& path) : path_(path) {
    document_ = parse_json(read_file(path, kMostManifestBytes), path.string());
    check(document_.is_object() && document_.contains("image_paths"), ErrorKind::Input,
          "[data.manifest] {} is not a list of scans; expected an object with the key "
          "image_paths, as in arc-meshchop's dataset_info.json.",
          path.string());
    count_ = array("image_paths")->size();
    check(count_ > 0, ErrorKind::Input, "[data.manifest] {} lists no scan; expected at least one.",
          path.string());
    check_num_samples();
    for (const auto* key : {"mask_paths", "lesion_volumes", "acquisition_types", "subject_ids"}) {
      const auto* values = array(key);
      check(values == nullptr || values->size() == count_, ErrorKind::Input,
            "[data.manifest] {}: {} does not fit image_paths; got {} entries, expected {}.",
            path.string(), key, values == nullptr ? 0 : values->size(), count_);
    }
  }

  std::size_t count() const { return count_; }

  /// Nothing for a key that is absent or a null.
  std::optional<std::string> text(const char* key, std::size_t i) const {
    const auto* value = entry(key, i);
    if (value == nullptr) return std::nullopt;
    check(value->is_string() && !value->get_ref<const std::string&>().empty(), ErrorKind::Input,
          "[data.manifest] {}: {}[{}] is no text; got {}, expected a text or null.", path_.string(),
          key, i, shown(*value));
    return value->get<std::string>();
  }

  std::optional<std::int64_t> whole(const char* key, std::size_t i) const {
    const auto* value = entry(key, i);
    if (value == nullptr) return std::nullopt;
    constexpr double kMost = 1e15;
    const bool fits = value->is_number() && value->get<double>() >= 0 &&
                      value->get<double>() <= kMost &&
                      value->get<double>() == static_cast<double>(value->get<std::int64_t>());
    check(fits, ErrorKind::Input,
          "[data.manifest] {}: {}[{}] is no number of voxels; got {}, expected a whole number from "
          "0 or null.",
          path_.string(), key, i, shown(*value));
    return value->get<std::int64_t>();
  }

 private:
  static std::string shown(const Json& value) {
    return value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 60);
  }

  const Json* array(const char* key) const {
    const auto found = document_.find(key);
    if (found == document_.end() || found->is_null()) return nullptr;
    check(found->is_array(), ErrorKind::Input,
          "[data.manifest] {}: {} is no array; got {}, expected [...].", path_.string(), key,
          shown(*found));
    return &*found;
  }

  const Json* entry(const char* key, std::size_t i) const {
    const auto* values = array(key);
    return values == nullptr || (*values)[i].is_null() ? nullptr : &(*values)[i];
  }

  void check_num_samples() const {
    const auto found = document_.find("num_samples");
    if (found == document_.end()) return;
    check(found->is_number_integer() &&
              found->get<std::int64_t>() == static_cast<std::int64_t>(count_),
          ErrorKind::Input,
          "[data.manifest] {}: num_samples does not fit image_paths; got {}, expected {}. Was the "
          "file edited by hand, or written only in part?",
          path_.string(), shown(*found), count_);
  }

  fs::path path_;
  Json document_;
  std::size_t count_ = 0;
};

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// The file a path of the manifest names; the path in the manifest's folder if it does not exist.
fs::path resolve(const fs::path& folder, const fs::path& path) {
  if (path.is_absolute()) return path;
  auto above = folder;
  for (int level = 0; level <= kFoldersAbove; ++level) {
    if (is_file(above / path)) return (above / path).lexically_normal();
    if (above == above.parent_path()) break;
    above = above.parent_path();
  }
  std::error_code ignored;
  if (const auto here = fs::current_path(ignored) / path; is_file(here)) return here;
  return folder / path;
}

void warn_of_duplicates(const Cohort& cohort, const fs::path& path) {
  std::set<std::string> seen;
  for (const auto& subject : cohort.subjects) {
    if (seen.insert(subject.id).second) continue;
    log::warn(
        "[data.manifest] {} names {} more than once; the folds take the scans for different "
        "people, so that one may train and the other test.",
        path.string(), subject.id);
    return;
  }
}

Json path_in(const fs::path& folder, const fs::path& path) {
  const auto relative = fs::absolute(path).lexically_normal().lexically_relative(folder);
  const bool below = !relative.empty() && *relative.begin() != "..";
  return below ? relative.generic_string() : fs::absolute(path).lexically_normal().string();
}

}  // namespace

Cohort read_manifest(const fs::path& path) {
  const ManifestReader manifest(path);
  Cohort cohort;
  cohort.root = fs::absolute(path).lexically_normal().parent_path();
  cohort.source = "manifest";
  std::vector<std::string> missing;
  const auto existing = [&](const std::string& name) {
    auto found = resolve(cohort.root, name);
    if (!is_file(found)) missing.push_back(name);
    return found;
  };
  for (std::size_t i = 0; i < manifest.count(); ++i) {
    const auto image = manifest.text("image_paths", i);
    check(image.has_value(), ErrorKind::Input,
          "[data.manifest] {}: image_paths[{}] is null; expected a path.", path.string(), i);
    Subject subject;
    subject.image = existing(*image);
    if (const auto mask = manifest.text("mask_paths", i)) subject.mask = existing(*mask);
    if (!subject.mask && is_npz_name(subject.image)) subject.mask = subject.image;
    subject.lesion_voxels = manifest.whole("lesion_volumes", i).value_or(-1);
    subject.acquisition = manifest.text("acquisition_types", i).value_or("unknown");
    subject.id = manifest.text("subject_ids", i).value_or(scan_stem(subject.image));
    cohort.subjects.push_back(std::move(subject));
  }
  check(missing.empty(), ErrorKind::Input,
        "[data.manifest] {} names {} files that do not exist: {}; expected them below {}, up to "
        "{} folders above it, or below the working directory. Was the study moved without its "
        "scans?",
        path.string(), missing.size(), first_few(missing), cohort.root.string(), kFoldersAbove);
  warn_of_duplicates(cohort, path);
  return cohort;
}

void write_manifest(const fs::path& path, const Cohort& cohort, const Json& extra) {
  const auto folder = fs::absolute(path).lexically_normal().parent_path();
  Json images = Json::array(), masks = images, volumes = images, acquisitions = images,
       ids = images;
  for (const auto& subject : cohort.subjects) {
    images.push_back(path_in(folder, subject.image));
    masks.push_back(subject.mask ? path_in(folder, *subject.mask) : Json());
    volumes.push_back(subject.lesion_voxels >= 0 ? Json(subject.lesion_voxels) : Json());
    acquisitions.push_back(subject.acquisition);
    ids.push_back(subject.id);
  }
  Json document = {{"num_samples", cohort.subjects.size()},
                   {"image_paths", images},
                   {"mask_paths", masks},
                   {"lesion_volumes", volumes},
                   {"acquisition_types", acquisitions},
                   {"subject_ids", ids}};
  for (const auto& [key, value] : extra.items()) document[key] = value;
  write_file(path, json_text(document, 2) + "\n");
}

}  // namespace ubique::data

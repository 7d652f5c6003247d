// SPDX-License-Identifier: Apache-2.0
// Lists scans, recognises results, and gives every scan's results a name of their own.
#include "ubique/models/meshnet/use/segment_jobs.h"

#include <fmt/format.h>

#include <set>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/data/scans/volume/scan_name.h"
#include "ubique/io/scans/nifti.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;

bool has_result_mark(const fs::path& scan) {
  try {
    return io::read_nifti_header(scan).intent_name == kResultMark;
  } catch (const Error&) {
    return false;  // its own error comes when it is segmented
  }
}

/// "head_labels.nii.gz" beside "head.nii.gz".
bool is_named_like_result(const fs::path& scan) {
  const auto stem = data::scan_stem(scan);
  for (const auto* suffix : {kLabelsSuffix, kConformedSuffix, kProbabilitySuffix}) {
    const auto at = stem.rfind(suffix);
    if (at == std::string::npos || at == 0) continue;
    const auto rest = stem.substr(at + std::string_view(suffix).size());
    if (rest.find_first_not_of("0123456789") != std::string::npos) continue;
    for (const auto* ending : {".nii.gz", ".nii"}) {
      std::error_code ignored;
      if (fs::exists(scan.parent_path() / (stem.substr(0, at) + ending), ignored)) return true;
    }
  }
  return false;
}

class ScanList {
 public:
  void add(const fs::path& scan, bool from_folder) {
    std::error_code ignored;
    if (!seen_.insert(fs::weakly_canonical(scan, ignored)).second) return;
    if (has_result_mark(scan) || (from_folder && is_named_like_result(scan))) {
      ++results_;
    } else {
      scans_.push_back(scan);
    }
  }

  void add_folder(const fs::path& folder) {
    const auto found = data::scans_in(folder);
    check(!found.empty(), ErrorKind::Input,
          "[meshnet.run] no scan in that folder; got {}, expected .nii or .nii.gz files.",
          folder.string());
    for (const auto& scan : found) add(scan, /*from_folder=*/true);
  }

  std::vector<fs::path> take() {
    check(!scans_.empty() || results_ == 0, ErrorKind::Input,
          "[meshnet.run] nothing to segment; got {} results of earlier runs, expected scans.",
          results_);
    if (results_ > 0) {
      log::info("{} {} of earlier runs left out", results_, results_ == 1 ? "result" : "results");
    }
    return std::move(scans_);
  }

 private:
  std::vector<fs::path> scans_;
  std::set<fs::path> seen_;
  std::size_t results_ = 0;
};

std::vector<fs::path> list_scans(const std::vector<std::string>& inputs) {
  ScanList list;
  for (const fs::path input : inputs) {
    check_readable(input);
    std::error_code ignored;
    if (fs::is_directory(input, ignored)) {
      list.add_folder(input);
    } else {
      list.add(input, /*from_folder=*/false);
    }
  }
  return list.take();
}

/// Results are named after the scans; scans of the same name are prefixed with their folder's.
std::vector<SegmentJob> name_jobs(const std::vector<fs::path>& scans) {
  std::vector<SegmentJob> jobs;
  std::multiset<std::string> stems;
  for (const auto& scan : scans) stems.insert(data::scan_stem(scan));
  std::set<std::string> taken;
  for (const auto& scan : scans) {
    auto name = data::scan_stem(scan);
    if (stems.count(name) > 1) {
      name = fs::absolute(scan).parent_path().filename().string() + "_" + name;
    }
    const auto base = name;
    for (int number = 2; !taken.insert(name).second; ++number) {
      name = fmt::format("{}_{}", base, number);
    }
    jobs.push_back({scan, name});
  }
  return jobs;
}

}  // namespace

std::vector<SegmentJob> segment_jobs(const std::vector<std::string>& inputs) {
  return name_jobs(list_scans(inputs));
}

}  // namespace ubique::meshnet

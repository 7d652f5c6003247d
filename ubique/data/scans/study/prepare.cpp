// SPDX-License-Identifier: Apache-2.0
// Reads, conforms and normalises one subject; checks the headers of many.
#include "ubique/data/scans/study/prepare.h"

#include "ubique/data/scans/study/npz_sample.h"
#include "ubique/data/scans/volume/scan_name.h"

namespace ubique::data {
namespace {

/// A prepared sample cannot be conformed again, so it must have the target shape already.
PreparedSample take_npz(const Subject& subject, const PrepareOptions& options) {
  auto sample = read_npz_sample(subject.image, options.classes);
  const auto &got = sample.image.shape, &wanted = options.target.shape;
  check(got == wanted || options.target.method == ConformMethod::None, ErrorKind::Input,
        "[data.npz] {} was prepared for another shape; got {}x{}x{}, expected {}x{}x{}. Ask for "
        "the shape that it has, or start from the scans.",
        subject.image.string(), got[0], got[1], got[2], wanted[0], wanted[1], wanted[2]);
  check(sample.mask || !subject.mask, ErrorKind::Input,
        "[data.npz] {} has no array 'mask'; expected one, to learn from or to score with.",
        subject.image.string());
  return sample;
}

/// A scan without voxels: only the header is read.
Scan header_only(const std::filesystem::path& path) {
  Scan scan;
  scan.header = io::read_nifti_header(path);
  check(scan.header.volumes == 1, ErrorKind::Input,
        "[data.scan] {}: more than one volume; got {}, expected one. Split the series.",
        path.string(), scan.header.volumes);
  scan.name = scan_stem(path);
  scan.volume.shape = scan.header.shape;
  scan.volume.affine = scan.header.affine;
  return scan;
}

void check_headers(const Subject& subject, const ConformTarget& target) {
  if (is_npz_name(subject.image)) return;
  const auto image = header_only(subject.image);
  if (subject.mask) check_mask_fits(header_only(*subject.mask), image, target.method);
}

PreparedSample make_sample(const Subject& subject, const PrepareOptions& options) {
  if (is_npz_name(subject.image)) return take_npz(subject, options);
  // BrainChop's method depends on the file's own axes; the others work in canonical axes.
  const auto axes =
      options.target.method == ConformMethod::Brainchop ? ScanAxes::Own : ScanAxes::Canonical;
  const auto scan = read_scan(subject.image, -1, options.threads, axes);
  PreparedSample sample{conform(scan, options.target, options.threads), {}};
  normalize(sample.image, options.normalization, options.low_quantile, options.high_quantile,
            options.threads);
  if (subject.mask) {
    const auto labels = read_scan(*subject.mask, -1, options.threads);
    sample.mask = conform_labels(labels, scan, options.target, options.classes, options.threads);
  }
  return sample;
}

}  // namespace

PreparedSample prepare_sample(const Subject& subject, const PrepareOptions& options) {
  try {
    return make_sample(subject, options);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Input) throw UnusableScan(error.what());
    throw;
  }
}

void require_mask(const Subject& subject) {
  if (subject.mask) return;
  throw UnusableScan(fmt::format(
      "[data.cohort] {} has no mask; expected one, to learn from or to score with.", subject.id));
}

void check_subjects(const std::vector<Subject>& subjects, const ConformTarget& target) {
  std::vector<UnusableSubject> unusable;
  for (const auto& subject : subjects) {
    try {
      check_headers(subject, target);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input) throw;
      unusable.push_back({subject.id, error.what()});
    }
  }
  refuse_unusable(unusable, subjects.size());
}

}  // namespace ubique::data

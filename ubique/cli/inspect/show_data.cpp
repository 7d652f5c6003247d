// SPDX-License-Identifier: Apache-2.0
// What models are trained on and applied to: scans, pictures, MATLAB's fixations, data sets.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/cli/inspect/kinds.h"
#include "ubique/data/chat/chat_set.h"
#include "ubique/data/images/pairing.h"
#include "ubique/data/puzzles/set/puzzle_metadata.h"
#include "ubique/data/scans/study/folder_scan.h"
#include "ubique/data/scans/study/manifest.h"
#include "ubique/data/scans/volume/orientation.h"
#include "ubique/data/scans/volume/scan_name.h"
#include "ubique/io/arrays/mat.h"
#include "ubique/io/images/image.h"

namespace ubique::cli {
namespace {

namespace fs = std::filesystem;

std::string orientation_text(const io::NiftiHeader& header) {
  const auto codes = data::axis_codes(header.affine);
  switch (header.affine_source) {
    case io::AffineSource::Sform:
      return codes + " (sform)";
    case io::AffineSource::Qform:
      return codes + " (qform)";
    case io::AffineSource::Spacing:
      break;
  }
  return "unknown: neither sform nor qform is set, so left and right cannot be told apart";
}

std::string mat_text(const io::MatValue& value) {
  constexpr const char* kNames[] = {"numbers", "text", "struct", "cell", "other"};
  auto text =
      fmt::format("{} {}", kNames[static_cast<int>(value.kind)], io::shape_text(value.shape));
  std::vector<std::string> fields;
  for (const auto& field : value.fields) fields.push_back(field.name);
  if (!fields.empty()) text += fmt::format(" of {}", json_text(Json(fields)));
  return text;
}

/// Of this folder alone: nobody waits for all pictures below a home folder.
std::int64_t pictures_in(const fs::path& folder) {
  std::error_code ignored;
  std::int64_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (io::is_image_name(entry.path())) ++count;
  }
  return count;
}

Json split_facts(const fs::path& file) {
  const auto metadata = data::read_metadata(file);
  return {{"groups", metadata.total_groups},
          {"puzzles", metadata.total_puzzles},
          {"examples per puzzle", metadata.mean_puzzle_examples},
          {"tokens", metadata.seq_len},
          {"vocabulary", metadata.vocab_size}};
}

}  // namespace

void show_scan(const Sight& sight, Finding& finding) {
  const auto header = io::read_nifti_header(sight.path);
  finding.facts.emplace_back("voxels", header.shape);
  if (header.volumes > 1) finding.facts.emplace_back("volumes", header.volumes);
  finding.facts.emplace_back("spacing mm", header.spacing);
  finding.facts.emplace_back("dtype", to_string(header.dtype));
  if (header.scaled) {
    finding.facts.emplace_back("scaling", Json{{"slope", header.slope}, {"inter", header.inter}});
  }
  finding.facts.emplace_back("orientation", orientation_text(header));
  finding.facts.emplace_back(
      "header", fmt::format("NIfTI-{}{}", header.version, header.swapped ? ", big-endian" : ""));
  if (!header.description.empty()) finding.facts.emplace_back("description", header.description);
  finding.next = {
      fmt::format("ubique run meshnet {} --model MODEL -o OUTPUT", shell_word(sight.path))};
}

void show_picture(const Sight& sight, Finding& finding) {
  const auto size = io::image_size(sight.path);
  finding.facts.emplace_back("format", sight.start.starts_with("\xff\xd8") ? "JPEG" : "PNG");
  finding.facts.emplace_back("width", size.width);
  finding.facts.emplace_back("height", size.height);
  finding.next = {
      fmt::format("ubique run msinet {} --model MODEL -o OUTPUT", shell_word(sight.path))};
}

void show_mat(const Sight& sight, Finding& finding) {
  auto variables = Json::object();
  for (const auto& variable : io::read_mat(sight.path)) {
    variables[variable.name] = mat_text(variable.value);
  }
  finding.facts.emplace_back("variables", std::move(variables));
  finding.next = {fmt::format("ubique train msinet --stimuli PICTURES --fixations {} -o OUTPUT",
                              shell_word(sight.path))};
}

void show_puzzles(const Sight& sight, Finding& finding) {
  // A set, one of its splits, or the file in it.
  auto folder = sight.is_folder ? sight.path : fs::absolute(sight.path).parent_path();
  std::error_code ignored;
  if (fs::exists(folder / "dataset.json", ignored)) {
    finding.facts.emplace_back("split", folder.filename().string());
    folder = folder.parent_path().empty() ? "." : folder.parent_path();
  }
  for (const auto* split : {"train", "test"}) {
    const auto file = folder / split / "dataset.json";
    if (!fs::exists(file, ignored)) continue;
    const auto metadata = data::read_metadata(file);
    const bool chat = data::is_chat_set(metadata);
    if (finding.next.empty()) {
      finding.facts.emplace_back("content",
                                 chat ? "conversations" : data::describe(metadata.layout));
      const auto word = shell_word(folder);
      finding.next = {fmt::format("ubique data trm show {}", word),
                      fmt::format("ubique train trm {}-d {} -o OUTPUT",
                                  chat ? "--config-name chat " : "", word)};
    }
    finding.facts.emplace_back(split, split_facts(file));
  }
}

bool is_study(const Sight& sight) {
  if (!sight.is_folder) return sight.path.filename() == data::kManifestName;
  return sight.has(data::kManifestName) || (sight.has("images") && sight.has("masks")) ||
         data::looks_like_bids(sight.path);
}

void show_study(const Sight& sight, Finding& finding) {
  const auto cohort = data::open_cohort(sight.path);
  const auto masks =
      std::ranges::count_if(cohort.subjects, [](const auto& one) { return one.mask.has_value(); });
  finding.facts.emplace_back("found by", cohort.source);
  finding.facts.emplace_back("scans", cohort.subjects.size());
  finding.facts.emplace_back("masks", masks);
  const auto word = shell_word(sight.path);
  finding.next = {fmt::format("ubique data meshnet splits -d {}", word),
                  fmt::format("ubique train meshnet -d {} -o OUTPUT", word)};
}

void show_saliency(const Sight& sight, Finding& finding) {
  finding.facts.emplace_back("pictures", data::images_in(sight.path / "stimuli").size());
  std::vector<std::string> truths;
  for (const auto* name : {"maps", "saliency", "fixation", "fixations"}) {
    if (sight.has(name)) truths.emplace_back(name);
  }
  finding.facts.emplace_back("beside them", truths);
  finding.next = {fmt::format("ubique train msinet -d {} -o OUTPUT", shell_word(sight.path))};
}

bool has_inputs(const Sight& sight) {
  return sight.is_folder && (!data::scans_in(sight.path).empty() || pictures_in(sight.path) > 0);
}

void show_inputs(const Sight& sight, Finding& finding) {
  const auto scans = data::scans_in(sight.path).size();
  const auto pictures = pictures_in(sight.path);
  const auto word = shell_word(sight.path);
  if (scans > 0) {
    finding.facts.emplace_back("scans", scans);
    finding.next.push_back(fmt::format("ubique run meshnet {} --model MODEL -o OUTPUT", word));
  }
  if (pictures > 0) {
    finding.facts.emplace_back("pictures", pictures);
    finding.next.push_back(fmt::format("ubique run msinet {} --model MODEL -o OUTPUT", word));
  }
}

}  // namespace ubique::cli

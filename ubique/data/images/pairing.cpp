// SPDX-License-Identifier: Apache-2.0
// Lists files and matches them by name.
#include "ubique/data/images/pairing.h"

#include <algorithm>
#include <array>
#include <map>

#include "ubique/base/error.h"
#include "ubique/base/parallel.h"
#include "ubique/base/text/text.h"
#include "ubique/data/images/fixations_mat.h"
#include "ubique/io/images/image.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;
using FilesById = std::map<std::string, fs::path>;

/// Suffixes that data sets add to a stimulus' name.
constexpr std::array<const char*, 9> kMapEndings = {
    "", "_fixMap", "_fixPts", "_map", "_saliency", "_all5", "_density", "_fixations", "_fix"};

std::vector<fs::path> files_in(const fs::path& path, bool (*wanted)(const fs::path&),
                               std::string_view what) {
  std::error_code error;
  check(fs::exists(path, error), ErrorKind::Input,
        "[data.images] there is no {}; expected {} there.", path.string(), what);
  if (fs::is_regular_file(path, error)) return {path};
  std::vector<fs::path> files;
  const auto options = fs::directory_options::follow_directory_symlink;
  for (fs::recursive_directory_iterator entry(path, options, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto name = entry->path().filename().string();
    const bool folder = entry->is_directory(error);
    if (name.starts_with('.') || (folder && name == "Output")) {
      if (folder) entry.disable_recursion_pending();
      continue;
    }
    if (!folder && wanted(entry->path())) files.push_back(entry->path());
  }
  check(!error, ErrorKind::Input, "[data.images] cannot read the folder {}; {}.", path.string(),
        error.message());
  std::ranges::sort(files, {}, [](const fs::path& file) { return file.string(); });
  return files;
}

/// MIT1003 has images of points beside its maps.
bool is_map_name(const fs::path& path) {
  return io::is_image_name(path) && !path.stem().string().ends_with("_fixPts");
}

FilesById by_id(const std::vector<fs::path>& files, const fs::path& root) {
  FilesById found;
  for (const auto& file : files) {
    const auto [entry, is_new] = found.emplace(sample_id(file, root), file);
    check(is_new, ErrorKind::Input,
          "[data.pairs] two files have the same name but for the ending: {} and {}; expected one "
          "of them.",
          entry->second.string(), file.string());
  }
  return found;
}

/// Assigns each sample its file; a missing and an unmatched file are an error that names both.
void assign_files(std::vector<SaliencySample>& samples, FilesById files, std::string_view what,
                  fs::path SaliencySample::*member) {
  const auto count = files.size();
  for (auto& sample : samples) {
    for (const auto* ending : kMapEndings) {
      const auto found = files.find(sample.id + ending);
      if (found == files.end()) continue;
      sample.*member = found->second;
      files.erase(found);
      break;
    }
  }
  const auto missing = std::ranges::find_if(
      samples, [&](const SaliencySample& sample) { return (sample.*member).empty(); });
  const auto spare = files.empty() ? std::string("none") : files.begin()->second.string();
  check(missing == samples.end(), ErrorKind::Input,
        "[data.pairs] {} has no {} of its name; the first {} that belongs to no stimulus is {} ({} "
        "stimuli, {} {}s). Names must be the same but for the ending.",
        missing == samples.end() ? "" : missing->stimulus.string(), what, what, spare,
        samples.size(), count, what);
  check(files.empty(), ErrorKind::Input,
        "[data.pairs] {} belongs to no stimulus; got {} stimuli, the first of them {}, and {} {}s. "
        "Names must be the same but for the ending.",
        spare, samples.size(), samples.front().stimulus.string(), count, what);
}

/// Indices of the samples in numerical order (2.jpg before 10.jpg) if all names are numbers.
std::vector<std::size_t> numerical_order(const std::vector<SaliencySample>& samples) {
  std::vector<std::pair<double, std::size_t>> numbers;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto number = parse_number(samples[i].stimulus.stem().string());
    numbers.emplace_back(number.value_or(-1), i);
  }
  const bool all = std::ranges::none_of(numbers, [](const auto& row) { return row.first < 0; });
  if (all) std::ranges::sort(numbers);
  std::vector<std::size_t> order;
  for (const auto& [number, index] : numbers) order.push_back(index);
  return order;
}

/// One file with the fixations of all pictures: matched by the names in it, or by order if it has
/// none.
void assign_lists(std::vector<SaliencySample>& samples, const fs::path& path) {
  auto lists = read_fixation_lists(path);
  check(lists.size() == samples.size(), ErrorKind::Input,
        "[data.pairs] {} has the fixations of {} pictures; got {} stimuli.", path.string(),
        lists.size(), samples.size());
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (!lists[i].stimulus.empty()) by_name[fs::path(lists[i].stimulus).stem().string()] = i;
  }
  const auto order = numerical_order(samples);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto& sample = samples[order[i]];
    auto index = i;
    if (!by_name.empty()) {
      const auto found = by_name.find(sample.stimulus.stem().string());
      check(found != by_name.end(), ErrorKind::Input,
            "[data.pairs] {} has no fixations of {}; it has those of {}.", path.string(),
            sample.stimulus.string(), by_name.begin()->first);
      index = found->second;
    }
    sample.known = std::make_shared<const FixationList>(std::move(lists[index]));
    sample.fixations = path;
  }
}

/// The one MATLAB file of a folder of many stimuli, or of a path that is such a file.
std::optional<fs::path> common_file(const fs::path& path, const std::vector<fs::path>& files,
                                    std::size_t samples) {
  std::error_code error;
  const bool one = files.size() == 1 && lowercase(files[0].extension().string()) == ".mat";
  if (one && (samples > 1 || fs::is_regular_file(path, error))) return files[0];
  return std::nullopt;
}

void check_sizes(const std::vector<SaliencySample>& samples, int threads) {
  const auto size_of = [](const fs::path& path) {
    return io::image_size(path, io::ExifOrientation::Ignore);
  };
  parallel_for(
      static_cast<std::int64_t>(samples.size()), threads,
      [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          const auto stimulus = size_of(samples[i].stimulus), map = size_of(samples[i].map);
          check(stimulus == map, ErrorKind::Input,
                "[data.pairs] {} has {} x {} pixels, but its map {} has {} x {}; expected "
                "the same size.",
                samples[i].stimulus.string(), stimulus.width, stimulus.height,
                samples[i].map.string(), map.width, map.height);
        }
      });
}

}  // namespace

std::vector<fs::path> images_in(const fs::path& path) {
  return files_in(path, io::is_image_name, "a picture or a folder of them");
}

std::vector<fs::path> other_files_in(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return {};
  const auto is_other = [](const fs::path& file) { return !io::is_image_name(file); };
  return files_in(path, is_other, "a folder");
}

std::string sample_id(const fs::path& file, const fs::path& root) {
  auto relative = file.lexically_relative(root);
  if (relative.empty() || relative == ".") relative = file.filename();
  return relative.replace_extension().generic_string();
}

std::vector<SaliencySample> pair_files(const SaliencyFolders& folders, int threads) {
  std::vector<SaliencySample> samples;
  const auto stimuli = images_in(folders.stimuli);
  by_id(stimuli, folders.stimuli);  // refuses duplicate names
  for (const auto& file : stimuli) {
    samples.push_back({sample_id(file, folders.stimuli), file, {}, {}, {}});
  }
  check(!samples.empty(), ErrorKind::Input,
        "[data.images] no pictures in {}; expected files .png, .jpg or .jpeg.",
        folders.stimuli.string());
  if (!folders.maps.empty()) {
    assign_files(samples, by_id(files_in(folders.maps, is_map_name, "saliency maps"), folders.maps),
                 "map", &SaliencySample::map);
    check_sizes(samples, threads);
  }
  if (!folders.fixations.empty()) {
    const auto files = files_in(folders.fixations, is_fixation_name, "fixations");
    if (const auto common = common_file(folders.fixations, files, samples.size())) {
      assign_lists(samples, *common);
    } else {
      assign_files(samples, by_id(files, folders.fixations), "fixation file",
                   &SaliencySample::fixations);
    }
  }
  return samples;
}

}  // namespace ubique::data

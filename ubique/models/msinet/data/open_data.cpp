// SPDX-License-Identifier: Apache-2.0
// The flags of a data set, and the catalogue set or the folders that they name.
#include "ubique/models/msinet/data/open_data.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/names.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

enum class BlurKind { Gaussian, Fourier };
constexpr NameTable<BlurKind, 2> kBlurNames{
    {{BlurKind::Gaussian, "gaussian"}, {BlurKind::Fourier, "fourier"}}};

constexpr double kWidestSigma = 1e4;

/// With --blur, target maps are made from the fixations even if map files exist.
void apply_blur(const Config& config, data::SaliencyData& data) {
  const auto name = config.find<std::string>("blur");
  const auto sigma = config.find<double>("sigma");
  check(!sigma || (*sigma > 0 && *sigma <= kWidestSigma), ErrorKind::Usage,
        "[msinet.data] the blur is out of range; got --sigma {}, expected above 0, up to {} "
        "pixels.",
        sigma.value_or(0), kWidestSigma);
  if (sigma) data.blur.sigma = *sigma;
  if (!name) return;
  const auto kind = parse_name(kBlurNames, "msinet.data", "blur", *name);
  if (kind == BlurKind::Fourier) data.blur.cycles = data::kMitCycles;
  if (data.blur.sigma == 0) data.blur.sigma = data::FixationBlur().sigma;
  for (auto* part : {&data.train, &data.valid}) {
    for (auto& sample : *part) {
      check(sample.has_fixations(), ErrorKind::Input,
            "[msinet.data] --blur makes maps of fixations; got none for {}. Leave --blur out to "
            "use the maps.",
            sample.stimulus.string());
      sample.map.clear();
    }
  }
}

/// The folder layout of `data msinet synth`, or the folder names of the catalogue.
data::SaliencyFolders folders_of(const Config& config, const fs::path& root) {
  data::SaliencyFolders folders;
  folders.stimuli = config.get<std::string>("stimuli", (root / "stimuli").string());
  fs::path maps;
  for (const auto* name : {"fixation", "saliency", "maps"}) {  // of several, the last
    if (fs::is_directory(root / name)) maps = root / name;
  }
  folders.maps = config.get<std::string>("maps", maps.string());
  folders.fixations = config.get<std::string>("fixations", (root / "fixations").string());
  std::error_code ignored;
  if (!fs::exists(folders.maps, ignored)) folders.maps.clear();
  if (!fs::exists(folders.fixations, ignored)) folders.fixations.clear();
  folders.blur.sigma = config.get("sigma", folders.blur.sigma);
  folders.valid_share = config.get("valid_share", folders.valid_share);
  return folders;
}

/// A set of the catalogue in ROOT/NAME; a folder of that name with stimuli in it; or ROOT itself,
/// for which NAME is only a label.
data::SaliencyData open_named_set(const Config& config, const fs::path& root,
                                  const std::string& name, int threads) {
  check_readable(root);
  std::error_code ignored;
  const bool plain = config.has("stimuli") || fs::is_directory(root / "stimuli", ignored);
  const bool below = !name.empty() && fs::is_directory(root / name, ignored);
  const auto sets = data::saliency_sets();
  const bool known = std::ranges::find(sets, name, &data::SaliencySet::name) != sets.end();
  if (known && (below || !plain)) {
    return data::open_saliency_set(root, data::saliency_set(name), threads);
  }
  if (!name.empty() && !below && !plain) data::saliency_set(name);  // throws, with "did you mean"
  check(root.empty() || fs::is_directory(root), ErrorKind::Input,
        "[msinet.data] {} is not a folder; expected one with pictures and their maps or fixations.",
        root.string());
  auto data = data::open_saliency_folders(folders_of(config, below ? root / name : root), threads);
  if (known && data::saliency_set(name).sigma > 0) data.blur.sigma = data::saliency_set(name).sigma;
  return data;
}

}  // namespace

int hardware_threads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::vector<engine::Option> saliency_data_options() {
  return engine::in_group(
      engine::kDataGroup,
      {
          {"-d,--data,--data-dir", "data", "PATH",
           "folder with stimuli/ and maps/ or fixations/, or of --dataset"},
          {"--dataset", "dataset", "NAME",
           "salicon, mit1003, cat2000, ...: split and sizes as known"},
          {"--stimuli", "stimuli", "PATH", "pictures, instead of DATA/stimuli"},
          {"--maps", "maps", "PATH", "maps of the same names, instead of DATA/maps"},
          {"--fixations", "fixations", "PATH",
           "points of the same names, instead of DATA/fixations"},
          {"--sigma", "sigma", "PIXELS", "blur of maps that are made of fixations (16)"},
          {"--blur", "blur", "NAME",
           "make maps of the fixations: gaussian (--sigma), fourier (MIT's, 8 cycles)"},
          {"--valid-share", "valid_share", "SHARE",
           "validation share, unless train/ and val/ exist (0.2)"},
      });
}

data::SaliencyData open_data(const Config& config, const std::array<std::int64_t, 2>& size,
                             int threads) {
  const fs::path root = config.get<std::string>("data", "");
  const auto name = config.get<std::string>("dataset", "");
  check(!root.empty() || config.find<std::string>("stimuli"), ErrorKind::Usage,
        "[msinet.data] which pictures? got neither --data nor --stimuli; `ubique data msinet synth "
        "-o scenes` makes some.");
  auto data = open_named_set(config, root, name, threads);
  apply_blur(config, data);
  data.frame = {static_cast<int>(size[0]), static_cast<int>(size[1])};
  return data;
}

}  // namespace ubique::msinet

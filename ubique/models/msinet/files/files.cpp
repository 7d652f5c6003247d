// SPDX-License-Identifier: Apache-2.0
// What the commands share: models from any file, data sets by name or folder, the session of a
// network that only runs.
#include <algorithm>
#include <thread>

#include "ubique/base/text/names.h"
#include "ubique/models/msinet/commands/commands.h"
#include "ubique/models/msinet/files/results.h"
#include "ubique/models/msinet/net/network.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

enum class BlurKind { Gaussian, Fourier };
constexpr NameTable<BlurKind, 2> kBlurNames{
    {{BlurKind::Gaussian, "gaussian"}, {BlurKind::Fourier, "fourier"}}};

constexpr double kWidestSigma = 1e4;

/// Maps made of the fixations, whatever maps there are, where a person asks for a blur.
void adopt_blur(const Config& config, data::SaliencyData& data) {
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

/// A folder as `data msinet synth` and most people lay one out, beside the catalogue's names.
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
/// for which NAME is only what its files are called.
data::SaliencyData open_named_set(const Config& config, const fs::path& root,
                                  const std::string& name, int threads) {
  std::error_code ignored;
  const bool plain = config.has("stimuli") || fs::is_directory(root / "stimuli", ignored);
  const bool below = !name.empty() && fs::is_directory(root / name, ignored);
  const auto sets = data::saliency_sets();
  const bool known = std::ranges::find(sets, name, &data::SaliencySet::name) != sets.end();
  if (known && (below || !plain)) {
    return data::open_saliency_set(root, data::saliency_set(name), threads);
  }
  if (!name.empty() && !below && !plain) data::saliency_set(name);  // refuses it, did you mean
  check(root.empty() || fs::is_directory(root), ErrorKind::Input,
        "[msinet.data] {} is no folder; expected one with pictures and what people looked at in "
        "them.",
        root.string());
  auto data = data::open_saliency_folders(folders_of(config, below ? root / name : root), threads);
  if (known && data::saliency_set(name).sigma > 0) data.blur.sigma = data::saliency_set(name).sigma;
  return data;
}

}  // namespace

int host_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

std::vector<engine::Option> saliency_data_options() {
  return {
      {"-d,--data", "data", "PATH",
       "folder with stimuli/ and maps/ or fixations/, or of --dataset"},
      {"--dataset", "dataset", "NAME", "salicon, mit1003, cat2000, ...: split and sizes as known"},
      {"--stimuli", "stimuli", "PATH", "pictures, instead of DATA/stimuli"},
      {"--maps", "maps", "PATH", "maps of the same names, instead of DATA/maps"},
      {"--fixations", "fixations", "PATH", "points of the same names, instead of DATA/fixations"},
      {"--sigma", "sigma", "PIXELS", "blur of maps that are made of fixations (16)"},
      {"--blur", "blur", "NAME",
       "make maps of the fixations: gaussian (--sigma), fourier (MIT's, 8 cycles)"},
      {"--valid-share", "valid_share", "SHARE", "to validate with, unless train/ and val/ (0.2)"},
  };
}

data::SaliencyData open_data(const Config& config, const std::array<std::int64_t, 2>& size,
                             int threads) {
  const fs::path root = config.get<std::string>("data", "");
  const auto name = config.get<std::string>("dataset", "");
  check(!root.empty() || config.find<std::string>("stimuli"), ErrorKind::Usage,
        "[msinet.data] which pictures? got neither --data nor --stimuli; `ubique data msinet synth "
        "-o scenes` makes some.");
  auto data = open_named_set(config, root, name, threads);
  adopt_blur(config, data);
  data.frame = {static_cast<int>(size[0]), static_cast<int>(size[1])};
  return data;
}

MsiNetFile open_file(const fs::path& given) {
  const auto path = engine::model_path(given);
  if (!engine::is_checkpoint(path)) return load_any(path);
  auto checkpoint = engine::load_checkpoint(path, /*with_trainer=*/false);
  check(checkpoint.family == "msinet", ErrorKind::Input,
        "[msinet.open] {} is a model of another family; got {}, expected msinet.", path.string(),
        checkpoint.family);
  return {msinet::from_json(checkpoint.config, path.string()), std::move(checkpoint.model),
          "checkpoint", false};
}

MsiNetFile open_file(const engine::Request& request) {
  const auto dataset = request.config.get<std::string>("dataset", "");
  if (!holds_named_weights(request.model)) return open_file(fs::path(request.model));
  auto wishes = plan::read_wishes(request.config);
  const auto device = engine::open_device(wishes, request.fallback).facts.backend;
  return load_any(find_best(request.model, dataset, weight_device_name(device)));
}

engine::Session open_run_session(const MsiNetConfig& config, const engine::Request& request,
                                 std::int64_t batch) {
  auto wishes = plan::read_wishes(request.config);
  wishes.mode = plan::Mode::Run;
  request.config.finish();
  auto needs = needs_of(config, config.size);
  needs.run_batch = batch;
  auto session = engine::open_session(needs, wishes, request.fallback);
  engine::apply(session.plan);
  return session;
}

}  // namespace ubique::msinet

// SPDX-License-Identifier: Apache-2.0
// What the commands share: models from any file, data sets by name or folder, the session of a
// network that only runs.
#include <thread>

#include "ubique/models/msinet/commands.h"
#include "ubique/models/msinet/network.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

/// A folder as `data msinet synth` and most people lay one out, beside the catalogue's names.
data::SaliencyFolders folders_of(const Config& config, const fs::path& root) {
  data::SaliencyFolders folders;
  folders.stimuli = config.get<std::string>("stimuli", (root / "stimuli").string());
  const auto either = [&](const char* first, const char* second) {
    return fs::is_directory(root / first) ? root / first : root / second;
  };
  folders.maps = config.get<std::string>("maps", either("maps", "saliency").string());
  folders.fixations = config.get<std::string>("fixations", (root / "fixations").string());
  std::error_code ignored;
  if (!fs::exists(folders.maps, ignored)) folders.maps.clear();
  if (!fs::exists(folders.fixations, ignored)) folders.fixations.clear();
  folders.sigma = config.get("sigma", folders.sigma);
  folders.valid_share = config.get("valid_share", folders.valid_share);
  return folders;
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
      {"--valid-share", "valid_share", "SHARE", "to validate with, unless train/ and val/ (0.2)"},
  };
}

data::SaliencyData open_data(const Config& config, const std::array<std::int64_t, 2>& size,
                             int threads) {
  const fs::path root = config.get<std::string>("data", "");
  const auto name = config.get<std::string>("dataset", "");
  auto folders = folders_of(config, root);
  check(!root.empty() || config.find<std::string>("stimuli"), ErrorKind::Usage,
        "[msinet.data] which pictures? got neither --data nor --stimuli; `ubique data msinet synth "
        "-o scenes` makes some.");
  std::error_code ignored;
  const bool known = !name.empty() && fs::is_directory(root / name, ignored);
  auto data = known ? data::open_saliency_set(root, data::saliency_set(name), threads)
                    : data::open_saliency_folders(folders, threads);
  data.frame = {static_cast<int>(size[0]), static_cast<int>(size[1])};
  return data;
}

MsiNetFile open_file(const fs::path& path) {
  if (!engine::is_checkpoint(path)) return load_any(path);
  auto checkpoint = engine::load_checkpoint(path, /*with_trainer=*/false);
  check(checkpoint.family == "msinet", ErrorKind::Input,
        "[msinet.open] {} is a model of another family; got {}, expected msinet.", path.string(),
        checkpoint.family);
  return {msinet::from_json(checkpoint.config, path.string()), std::move(checkpoint.model),
          "checkpoint", false};
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

// SPDX-License-Identifier: Apache-2.0
// The cache of downloaded models that Hugging Face's own programs share:
// models--OWNER--NAME/blobs has the files by their digests, snapshots/COMMIT links to them by their
// names, refs/main has the commit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ubique/io/hub/listing.h"
#include "ubique/io/hub/name.h"

namespace ubique::io {

/// HF_HUB_CACHE, HF_HOME/hub, XDG_CACHE_HOME/huggingface/hub or ~/.cache/huggingface/hub.
std::filesystem::path hub_cache();
/// HF_HOME and so on: where the token lies, too.
std::filesystem::path hub_home();

/// The folder of a model in a cache, which need not exist.
std::filesystem::path hub_model_folder(const std::filesystem::path& cache, const HubName& name);

/// The folder with the files of a model that was downloaded; nothing if it is not in the cache.
std::optional<std::filesystem::path> find_downloaded(const HubName& name);

/// What --model means: the path itself if there is such a file or folder or if it is no name of a
/// model, else the folder of the downloaded model of that name. Input error that says how to get a
/// model that is not here.
std::filesystem::path hub_folder(const std::string& given);
/// The same without the error: a name of a model that is not here stays as it is, unless it begins
/// with "hf:".
std::filesystem::path hub_folder_if_here(const std::string& given);

/// A model in the cache.
struct DownloadedModel {
  std::string name;              ///< "OWNER/NAME"
  std::string commit;            ///< of `main`
  std::filesystem::path folder;  ///< the snapshot
  std::int64_t bytes = 0;        ///< of its files
};

/// All that have a `main`, by name.
std::vector<DownloadedModel> downloaded_models();

/// Writes into the folder of one model.
class HubStore {
 public:
  HubStore(std::filesystem::path cache, const HubName& name, std::string commit);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path snapshot() const { return folder_ / "snapshots" / commit_; }
  std::filesystem::path blob(const std::string& digest) const { return folder_ / "blobs" / digest; }

  /// Is the file of that size in the folder of a model, under its name in the snapshot or as a
  /// blob?
  static bool has(const std::filesystem::path& folder, const std::string& commit,
                  const HubFile& file);
  /// Makes `path` in the snapshot a relative link to the blob; a copy where the file system has no
  /// links.
  void link(const std::string& path, const std::string& digest) const;
  /// From now on the revision means this commit. After all files are linked.
  void set_revision(const std::string& revision) const;

 private:
  std::filesystem::path folder_;
  std::string commit_;
};

/// Held while a model is downloaded: another process that wants the same one waits. Freed with the
/// process, however that ends.
class HubLock {
 public:
  HubLock(const std::filesystem::path& cache, const HubName& name);
  ~HubLock();
  HubLock(const HubLock&) = delete;
  HubLock& operator=(const HubLock&) = delete;

  bool try_lock();  ///< false: another process has it

 private:
  int descriptor_ = -1;
};

}  // namespace ubique::io

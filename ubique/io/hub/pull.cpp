// SPDX-License-Identifier: Apache-2.0
// The hub's pages, room on the disk, and the order of writing: blobs, links, then the ref.
#include "ubique/io/hub/pull.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/io/hub/cache.h"
#include "ubique/io/hub/http.h"
#include "ubique/io/hub/retry.h"

namespace ubique::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestPage = std::size_t{64} << 20U;
constexpr int kMostPages = 1000;
constexpr int kPageRetries = 5;

std::string variable_text(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// HF_TOKEN, or what `hf auth login` wrote.
std::string find_token() {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    if (auto token = std::string(trim(variable_text(name))); !token.empty()) return token;
  }
  const auto named = variable_text("HF_TOKEN_PATH");
  const auto path = named.empty() ? hub_home() / "token" : fs::path(named);
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  return std::string(trim(read_file(path, 1 << 12)));
}

/// The next page in a Link header: <URL>; rel="next". Only from the same server: the token goes
/// with the request.
std::string next_page(const std::string& link, const std::string& endpoint) {
  const auto begin = link.find('<'), end = link.find('>');
  if (begin == std::string::npos || end == std::string::npos || end < begin ||
      link.find("rel=\"next\"", end) == std::string::npos) {
    return {};
  }
  auto url = link.substr(begin + 1, end - begin - 1);
  if (url.starts_with('/')) url = url_origin(endpoint) + url;
  check(url_origin(url) == url_origin(endpoint), ErrorKind::Input,
        "[io.hub] the list of files goes on at {}; expected the same server as before.",
        printable(url_origin(url)));
  return url;
}

/// The pages of a hub's API.
class Pages {
 public:
  explicit Pages(const PullOptions& options)
      : options_(options.download),
        client_(
            {.stop_requested = options_.stop_requested, .stall_seconds = options_.stall_seconds}) {}

  /// The body; `reply` has the headers. Input error if it cannot be had.
  std::string fetch(const std::string& url, const std::string& what, HttpReply& reply) {
    Retry retry(options_.stop_requested, kPageRetries, options_.first_wait);
    for (;;) {
      std::string text;
      reply = client_.get({.url = url, .token = options_.token},
                          [&](const HttpReply& /*head*/, std::span<const std::byte> bytes) {
                            check(text.size() + bytes.size() <= kLongestPage, ErrorKind::Input,
                                  "[io.hub] {} is longer than {}; expected a list of files.", what,
                                  human_bytes(kLongestPage));
                            text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                            return true;
                          });
      if (reply.succeeded()) return text;
      if (reply.stopped || !retry.again(reply, what)) return {};
    }
  }

  bool stopped() const { return options_.stop_requested && options_.stop_requested(); }

 private:
  const DownloadOptions& options_;
  HttpClient client_;
};

std::vector<HubFile> fetch_tree(Pages& pages, const PullOptions& options,
                                const std::string& commit) {
  const auto name = options.name.text();
  const auto what = "the list of files of " + name;
  std::vector<HubFile> files;
  auto url = fmt::format("{}/api/models/{}/tree/{}?recursive=true", options.endpoint,
                         url_path(name), commit);
  for (int page = 0; !url.empty() && page < kMostPages; ++page) {
    HttpReply reply;
    const auto text = pages.fetch(url, what, reply);
    if (pages.stopped()) return {};
    parse_hub_tree(text, what, files);
    url = next_page(reply.header("link"), options.endpoint);
  }
  check_hub_files(files, what);
  return files;
}

void check_room(const PullOptions& options, const PullPlan& plan) {
  std::error_code error;
  const auto space = fs::space(options.cache, error);
  if (error || plan.to_fetch <= 0) return;
  check(space.available >= static_cast<std::uintmax_t>(plan.to_fetch), ErrorKind::Input,
        "[io.hub] {} has no room for the model; got {} free, expected {}. Free some space, or let "
        "HF_HUB_CACHE name another disk.",
        options.cache.string(), human_bytes(static_cast<std::int64_t>(space.available)),
        human_bytes(plan.to_fetch));
}

bool wait_for_lock(HubLock& lock, const PullOptions& options) {
  const auto& stop = options.download.stop_requested;
  for (bool told = false; !lock.try_lock(); told = true) {
    if (stop && stop()) return false;
    if (!told) log::info("another process downloads {}: waiting for it", options.name.text());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return true;
}

}  // namespace

PullOptions read_pull_environment(const HubName& name) {
  PullOptions options{.name = name};
  if (auto endpoint = variable_text("HF_ENDPOINT"); !endpoint.empty()) {
    while (endpoint.ends_with('/')) endpoint.pop_back();
    check(!url_origin(endpoint).empty() && endpoint.find_first_of("?# \t\r\n") == std::string::npos,
          ErrorKind::Usage,
          "[io.hub] HF_ENDPOINT is no address; expected one such as https://huggingface.co, "
          "without a name or password in it.");
    options.endpoint = endpoint;
  }
  options.cache = hub_cache();
  auto& download = options.download;
  download.token = find_token();
  check(std::ranges::all_of(download.token, [](char c) { return c > 0x20 && c < 0x7f; }),
        ErrorKind::Usage,
        "[io.hub] the token in HF_TOKEN has blanks or other characters in it that "
        "no token has.");
  const auto seconds = parse_number(variable_text("HF_HUB_DOWNLOAD_TIMEOUT"));
  if (seconds && *seconds >= 1) {
    download.stall_seconds = static_cast<long>(std::min(*seconds, 3600.0));
  }
  check(variable_text("HF_HUB_OFFLINE").empty() || variable_text("HF_HUB_OFFLINE") == "0",
        ErrorKind::Usage, "[io.hub] HF_HUB_OFFLINE is set: nothing is downloaded.");
  return options;
}

PullPlan plan_pull(const PullOptions& options) {
  Pages pages(options);
  const auto name = options.name.text();
  const auto what = fmt::format("{} at {}", name, options.name.revision);
  HttpReply reply;
  PullPlan plan;
  const auto text = pages.fetch(fmt::format("{}/api/models/{}/revision/{}", options.endpoint,
                                            url_path(name), url_part(options.name.revision)),
                                what, reply);
  if (pages.stopped()) return plan;
  plan.model = parse_hub_model(text, what);
  plan.files =
      choose_files(fetch_tree(pages, options, plan.model.commit), options.choice, plan.left_out);
  if (pages.stopped()) return plan;
  check(!plan.files.empty(), ErrorKind::Input,
        "[io.hub] {} has no file to download; got {} of other kinds or left out, expected "
        "safetensors, JSON or text. PyTorch's .bin and .pt can carry programs and are not fetched.",
        name, plan.left_out);
  const auto folder = hub_model_folder(options.cache, options.name);
  plan.snapshot = folder / "snapshots" / plan.model.commit;
  for (const auto& file : plan.files) {
    plan.bytes += file.bytes;
    if (HubStore::has(folder, plan.model.commit, file)) continue;
    DownloadFile missing{.file = file,
                         .url = fmt::format("{}/{}/resolve/{}/{}", options.endpoint, url_path(name),
                                            plan.model.commit, url_path(file.path)),
                         .destination = folder / "blobs" / file.digest};
    plan.to_fetch += file.bytes - bytes_left_by_earlier_run(missing);
    plan.missing.push_back(std::move(missing));
  }
  return plan;
}

bool pull(const PullOptions& options, const PullPlan& plan) {
  make_folder(options.cache);
  check_room(options, plan);
  HubLock lock(options.cache, options.name);
  if (!wait_for_lock(lock, options)) return false;
  const HubStore store(options.cache, options.name, plan.model.commit);
  // Two names may have the same content: it is fetched once.
  std::vector<DownloadFile> fetched;
  for (const auto& file : plan.missing) {
    const bool known = std::ranges::any_of(
        fetched, [&](const auto& other) { return other.destination == file.destination; });
    if (known) continue;
    std::error_code ignored;
    const bool whole =
        fs::is_regular_file(file.destination, ignored) &&
        static_cast<std::int64_t>(fs::file_size(file.destination, ignored)) == file.file.bytes;
    if (whole) continue;
    fs::remove(file.destination, ignored);  // of another program, cut short
    fetched.push_back(file);
  }
  const bool all = download(fetched, options.download, [&](const DownloadFile& file) {
    log::debug("{} is complete", printable(file.file.path));
  });
  if (!all) return false;
  for (const auto& file : plan.files) store.link(file.path, file.digest);
  if (options.name.revision != plan.model.commit) store.set_revision(options.name.revision);
  return true;
}

}  // namespace ubique::io

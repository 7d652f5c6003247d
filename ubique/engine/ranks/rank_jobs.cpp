// SPDX-License-Identifier: Apache-2.0
// Results travel as CBOR, which keeps every bit of a number.
#include "ubique/engine/ranks/rank_jobs.h"

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"

namespace ubique::engine {
namespace {

std::string list_text(std::int64_t count, const std::vector<std::string>& names) {
  return fmt::format("{} jobs (list {}, version {})", count,
                     digest_of(std::string_view(join(names, "\n"))), UBIQUE_VERSION);
}

}  // namespace

RankJobs::RankJobs(std::int64_t count, const std::vector<std::string>& names,
                   const dist::World& world)
    : count_(count), world_(world) {
  if (world.is_alone()) return;
  const auto all = world.gather(list_text(count, names));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    check(all[rank] == all.front(), ErrorKind::Usage,
          "[engine.ranks] rank {} sees other work than rank 0; got {}, expected {}. Give all ranks "
          "the same command and the same files.",
          rank, all[rank], all.front());
  }
}

std::vector<std::int64_t> RankJobs::mine() const {
  std::vector<std::int64_t> jobs;
  for (std::int64_t job = world_.rank(); job < count_; job += world_.size()) jobs.push_back(job);
  return jobs;
}

void RankJobs::retell(std::int64_t job, const Json& result) const {
  if (!world_.is_first() || has(job) || !result.is_object()) return;
  for (const auto& text : result.value("warnings", Json::array())) {
    log::warn("{}", text.get<std::string>());
  }
  const auto error = result.find("error");
  if (error == result.end() || !error->is_string()) return;
  const auto text = error->get<std::string>();
  if (!text.empty()) log::error("{}", text);
}

std::vector<Json> RankJobs::collect(std::vector<Json> done) const {
  done.resize(mine().size());
  if (world_.is_alone()) return done;
  const auto bytes = Json::to_cbor(Json(done));
  const auto texts = world_.gather(std::string(bytes.begin(), bytes.end()));
  std::vector<Json> ranks;
  for (const auto& text : texts) ranks.push_back(Json::from_cbor(text));
  std::vector<Json> all;
  for (std::int64_t job = 0; job < count_; ++job) {
    all.push_back(std::move(ranks[job % world_.size()][job / world_.size()]));
    retell(job, all.back());
  }
  return all;
}

std::vector<Json> share_jobs(std::int64_t count, const std::function<Json(std::int64_t)>& job,
                             const dist::World& world) {
  const RankJobs jobs(count, world);
  std::vector<Json> done;
  for (const auto number : jobs.mine()) done.push_back(job(number));
  return jobs.collect(std::move(done));
}

std::vector<double> share_sums(std::int64_t count, std::size_t terms,
                               const std::function<std::vector<double>(std::int64_t)>& job,
                               const dist::World& world) {
  std::vector<double> sums(terms);
  for (const auto& list : share_jobs(
           count, [&](std::int64_t number) -> Json { return job(number); }, world)) {
    for (std::size_t i = 0; i < terms; ++i) sums[i] += list[i].get<double>();
  }
  return sums;
}

void require_one_process(const std::string& what, const dist::World& world) {
  check(world.is_alone(), ErrorKind::Usage,
        "[engine.ranks] {} cannot be shared out; got {} processes, expected 1. Start it without a "
        "launcher.",
        what, world.size());
}

}  // namespace ubique::engine

// SPDX-License-Identifier: Apache-2.0
// Best fit by decreasing length: the number of rows is the same in every epoch and close to the
// least possible. Which documents of one length share rows, and the order of rows, is random.
#include "ubique/data/code/packing.h"

#include <algorithm>
#include <set>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

constexpr std::int64_t kLongestRow = std::int64_t{1} << 20;
// Streams of the seed: the order of documents, of rows, and the cuts of FIM.
enum PackingStream : std::uint64_t { kDocumentStream = 11, kRowStream = 12, kFimStream = 13 };

Random epoch_random(std::uint64_t seed, PackingStream stream, std::int64_t epoch) {
  return Random(seed, stream).fork(static_cast<std::uint64_t>(epoch));
}

}  // namespace

void validate(const PackingOptions& options) {
  check(options.length >= 2 && options.length <= kLongestRow, ErrorKind::Usage,
        "[data.packing] rows of {} tokens; expected 2 to {}.", options.length, kLongestRow);
  check(options.longest == 0 || (options.longest >= 2 && !options.contiguous), ErrorKind::Usage,
        "[data.packing] windows of at most {} tokens; expected 2 or more, and rows that are not "
        "contiguous.",
        options.longest);
  check(!(options.contiguous && options.fim), ErrorKind::Usage,
        "[data.packing] fill-in-the-middle needs whole documents; it does not go with contiguous "
        "rows.");
}

Packing::Packing(const TokenDocuments& documents, const PackingOptions& options, std::int64_t epoch,
                 const io::Tokenizer* tokenizer)
    : documents_(documents), options_(options), epoch_(epoch) {
  validate(options);
  if (options.fim && options.fim->rate > 0) {
    check(tokenizer != nullptr, ErrorKind::Internal,
          "[data.packing] fill-in-the-middle without a tokenizer.");
    fim_.emplace(*tokenizer, *options.fim);
  }
  check(documents.tokens() > 0, ErrorKind::Input,
        "[data.packing] nothing to learn from: {} documents without tokens.", documents.size());
  if (options.contiguous) {
    offsets_.reserve(static_cast<std::size_t>(documents.size()) + 1);
    offsets_.push_back(0);
    for (std::int64_t i = 0; i < documents.size(); ++i) {
      offsets_.push_back(offsets_.back() + documents.length(i) + 1);
    }
    const auto count = (offsets_.back() + options.length - 1) / options.length;
    for (std::int64_t i = 0; i < count; ++i) row_ends_.push_back(i + 1);
    padding_ = count * options.length - offsets_.back();
  } else {
    fill_rows(cut_documents());
  }
  order_rows();
}

/// In random order, without windows that lie in a prompt completely.
std::vector<Packing::Window> Packing::cut_documents() const {
  const auto count = documents_.size();
  const auto order = options_.shuffle
                         ? epoch_random(options_.seed, kDocumentStream, epoch_).permutation(count)
                         : std::vector<std::int64_t>();
  const auto step =
      options_.longest > 0 ? std::min(options_.longest, options_.length) : options_.length;
  std::vector<Window> windows;
  windows.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto document = order.empty() ? i : order[static_cast<std::size_t>(i)];
    const auto whole = documents_.length(document) + 1;  // with end-of-text
    const auto prompt = documents_.prompt_length(document);
    if (whole == 1) continue;
    check(whole < std::int64_t{1} << 31, ErrorKind::Input,
          "[data.packing] document {} has {} tokens; expected fewer than 2^31.", document, whole);
    for (std::int64_t first = 0; first < whole; first += step) {
      const auto length = std::min(step, whole - first);
      const bool only_end = first > 0 && length == 1;  // end-of-text alone has nothing to predict
      const bool only_prompt = first + length < prompt;
      if (only_end || only_prompt) continue;
      windows.push_back(
          {document, static_cast<std::int32_t>(first), static_cast<std::int32_t>(length)});
    }
  }
  return windows;
}

void Packing::fill_rows(const std::vector<Window>& windows) {
  std::vector<std::size_t> order(windows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return windows[a].length > windows[b].length;
  });
  std::vector<std::vector<std::size_t>> rows;
  // Rows with room, by room: the fullest that still fits is filled.
  std::vector<std::vector<std::size_t>> open(static_cast<std::size_t>(options_.length));
  std::set<std::size_t> rooms;
  for (const auto window : order) {
    const auto length = static_cast<std::size_t>(windows[window].length);
    const auto found = rooms.lower_bound(length);
    auto row = rows.size();
    auto room = static_cast<std::size_t>(options_.length);
    if (found == rooms.end()) {
      rows.emplace_back();
    } else {
      room = *found;
      row = open[room].back();
      open[room].pop_back();
      if (open[room].empty()) rooms.erase(found);
    }
    rows[row].push_back(window);
    if (room == length) continue;
    open[room - length].push_back(row);
    rooms.insert(room - length);
  }
  windows_.reserve(windows.size());
  for (const auto& row : rows) {
    for (const auto window : row) windows_.push_back(windows[window]);
    row_ends_.push_back(static_cast<std::int64_t>(windows_.size()));
  }
  for (const auto room : rooms) {
    padding_ += static_cast<std::int64_t>(room * open[room].size());
  }
}

void Packing::order_rows() {
  if (options_.shuffle)
    order_ = epoch_random(options_.seed, kRowStream, epoch_).permutation(rows());
}

std::size_t Packing::row_of(std::int64_t index) const {
  check(index >= 0 && index < rows(), ErrorKind::Internal, "[data.packing] no row {} of {}.", index,
        rows());
  const auto at = static_cast<std::size_t>(index);
  return order_.empty() ? at : static_cast<std::size_t>(order_[at]);
}

PackedRow Packing::row(std::int64_t index) const {
  const auto at = row_of(index);
  PackedRow row;
  if (options_.contiguous) {
    row = stream_row(static_cast<std::int64_t>(at));
  } else {
    const auto begin = at == 0 ? 0 : row_ends_[at - 1];
    for (auto i = begin; i < row_ends_[at]; ++i) {
      add_window(windows_[static_cast<std::size_t>(i)], row);
    }
  }
  finish_row(row);
  return row;
}

void Packing::add_window(const Window& window, PackedRow& row) const {
  const auto tokens = documents_.length(window.document);
  const auto prompt = documents_.prompt_length(window.document);
  const auto end = window.first + window.length;
  // One more than the window, for the label of its last token.
  const auto taken = std::min<std::int64_t>(end + 1, tokens) - window.first;
  std::vector<std::int32_t> ids(static_cast<std::size_t>(taken));
  documents_.read(window.document, window.first, ids);
  ids.resize(static_cast<std::size_t>(window.length) + 1, documents_.end_of_text());
  const bool has_end = end == tokens + 1;
  bool is_fim = false;
  if (fim_ && prompt == 0) {
    const auto random = epoch_random(options_.seed, kFimStream, epoch_)
                            .fork(static_cast<std::uint64_t>(window.document))
                            .fork(static_cast<std::uint64_t>(window.first));
    const auto content = static_cast<std::size_t>(window.length - (has_end ? 1 : 0));
    is_fim = fim_->apply(std::span(ids).first(content), random);
  }
  row.starts.push_back(static_cast<std::int32_t>(row.ids.size()));
  for (std::int32_t i = 0; i < window.length; ++i) {
    const auto next = ids[static_cast<std::size_t>(i) + 1];
    const bool last = i + 1 == window.length;
    // Nothing follows end-of-text, and after a rearranged window comes no part of it.
    const bool ends = last && (has_end || is_fim);
    const bool in_prompt = window.first + i + 1 < prompt;
    const bool pads = is_fim && next == fim_->tokens().pad;
    row.ids.push_back(ids[static_cast<std::size_t>(i)]);
    row.labels.push_back(ends || in_prompt || pads ? kNoLabel : next);
    row.positions.push_back(i);
  }
}

/// A piece of the stream: document, end-of-text, document, ...
PackedRow Packing::stream_row(std::int64_t index) const {
  const auto first = index * options_.length;
  const auto end = std::min(first + options_.length + 1, offsets_.back());
  auto document = std::upper_bound(offsets_.begin(), offsets_.end(), first) - offsets_.begin() - 1;
  std::vector<std::int32_t> ids;
  std::vector<bool> in_prompt;
  for (auto at = first; at < end; ++document) {
    const auto start = at - offsets_[static_cast<std::size_t>(document)];
    const auto length = documents_.length(document);
    const auto taken = std::max<std::int64_t>(0, std::min(length - start, end - at));
    const auto before = ids.size();
    ids.resize(before + static_cast<std::size_t>(taken));
    documents_.read(document, start, std::span(ids).subspan(before));
    at += taken;
    if (at < end) {
      ids.push_back(documents_.end_of_text());
      ++at;
    }
    const auto prompt = documents_.prompt_length(document);
    for (auto i = static_cast<std::int64_t>(before); i < static_cast<std::int64_t>(ids.size());
         ++i) {
      in_prompt.push_back(start + i - static_cast<std::int64_t>(before) < prompt);
    }
  }
  PackedRow row;
  row.starts.push_back(0);
  const auto count = std::min<std::size_t>(ids.size(), static_cast<std::size_t>(options_.length));
  for (std::size_t i = 0; i < count; ++i) {
    const bool known = i + 1 < ids.size() && !in_prompt[i + 1];
    row.ids.push_back(ids[i]);
    row.labels.push_back(known ? ids[i + 1] : kNoLabel);
    row.positions.push_back(static_cast<std::int32_t>(i));
  }
  return row;
}

void Packing::finish_row(PackedRow& row) const {
  row.label_count = static_cast<std::int64_t>(row.labels.size()) -
                    std::count(row.labels.begin(), row.labels.end(), kNoLabel);
  row.padding = options_.length - static_cast<std::int64_t>(row.ids.size());
  if (row.padding > 0) row.starts.push_back(static_cast<std::int32_t>(row.ids.size()));
  const auto length = static_cast<std::size_t>(options_.length);
  row.ids.resize(length, documents_.end_of_text());
  row.labels.resize(length, kNoLabel);
  for (std::int32_t i = 0; row.positions.size() < length; ++i) row.positions.push_back(i);
  row.starts.push_back(static_cast<std::int32_t>(length));
}

}  // namespace ubique::data

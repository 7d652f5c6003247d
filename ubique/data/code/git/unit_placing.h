// SPDX-License-Identifier: Apache-2.0
// Filters and writes documents on a thread of its own, in the order of their units, while the
// caller parses and encodes and git makes the next patch.
#pragma once

#include <cstdint>
#include <vector>

#include "ubique/base/ordered_workers.h"
#include "ubique/data/code/code_set_writer.h"
#include "ubique/data/code/filter/document_filter.h"

namespace ubique::data {

class UnitPlacing {
 public:
  using Unit = std::vector<EncodedDocument>;  ///< all documents of one commit or one file

  /// Both must outlive this, and are its own until finish().
  UnitPlacing(DocumentFilter& filter, CodeSetWriter& writer);

  void push(Unit&& unit);
  /// Returns the number of documents that were kept.
  std::int64_t finish();

 private:
  using Units = std::vector<Unit>;
  void push_batch();
  void place(Units& units);

  DocumentFilter& filter_;
  CodeSetWriter& writer_;
  Units units_;  // the next batch
  std::size_t tokens_ = 0;
  std::int64_t documents_ = 0;
  OrderedWorkers<Units> workers_;  // last: its thread uses the above
};

}  // namespace ubique::data

// SPDX-License-Identifier: Apache-2.0
// One reader per data set, chosen by the names of the variables.
#include "ubique/data/images/fixations_mat.h"

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/io/arrays/mat.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;
using io::MatValue;

/// A table with a row per fixation; an empty one may have any shape, as MATLAB writes it.
bool is_table_of_two(const MatValue& value) {
  return value.kind == MatValue::Kind::Numbers &&
         (value.numbers.empty() || (value.shape.size() == 2 && value.columns() == 2));
}

/// DUT-OMRON's table, sorted by its third column; the first row is width and height.
std::vector<Fixation> from_omron(const MatValue& table, const std::string& name) {
  check(table.kind == MatValue::Kind::Numbers && table.shape.size() == 2 && table.columns() >= 3,
        ErrorKind::Input, "[data.fixations] {}: variable s is {}; expected N x 3.", name,
        io::shape_text(table.shape));
  std::vector<std::int64_t> order(static_cast<std::size_t>(table.rows()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::ranges::stable_sort(order, {}, [&](std::int64_t row) { return table.at(row, 2); });
  std::vector<Fixation> fixations;
  for (std::size_t i = 1; i < order.size(); ++i) {
    fixations.push_back({table.at(order[i], 0), table.at(order[i], 1)});
  }
  return fixations;
}

/// One picture of OSIE: all observers, coordinates truncated to whole pixels.
FixationList from_osie(const MatValue& entry, const std::string& name) {
  FixationList list;
  const auto *image = entry.field("img"), *subjects = entry.field("subjects");
  check(image != nullptr && subjects != nullptr && subjects->kind == MatValue::Kind::Cell,
        ErrorKind::Input, "[data.fixations] {} is no file of OSIE; expected img and subjects.",
        name);
  list.stimulus = image->text;
  int observer = 0;
  for (const auto& subject : subjects->cells) {
    const auto *x = subject.field("fix_x"), *y = subject.field("fix_y");
    check(x != nullptr && y != nullptr && x->numbers.size() == y->numbers.size(), ErrorKind::Input,
          "[data.fixations] {}: an observer of {} lacks fix_x or fix_y, or has more of one.", name,
          list.stimulus);
    for (std::size_t i = 0; i < x->numbers.size(); ++i) {
      list.fixations.push_back({std::trunc(x->numbers[i]), std::trunc(y->numbers[i])});
      list.observers.push_back(observer);
    }
    ++observer;
  }
  return list;
}

/// One picture of PASCAL-S: rows and columns from 1.
FixationList from_pascal(const MatValue& entry, const std::string& name) {
  check(is_table_of_two(entry), ErrorKind::Input,
        "[data.fixations] {} holds {}; expected N x 2: row and column.", name,
        io::shape_text(entry.shape));
  FixationList list;
  for (std::int64_t row = 0; !entry.numbers.empty() && row < entry.rows(); ++row) {
    list.fixations.push_back({entry.at(row, 1) - 1, entry.at(row, 0) - 1});
  }
  return list;
}

/// One picture of SALICON: an array of observers, each with N x 2 fixations, x and y from 1.
FixationList from_salicon(const MatValue& gaze, const std::string& name) {
  FixationList list;
  const auto fields = std::ranges::find(gaze.fields, "fixations", &MatValue::Field::name);
  check(gaze.kind == MatValue::Kind::Struct && fields != gaze.fields.end(), ErrorKind::Input,
        "[data.fixations] {}: variable gaze is no list of observers with fixations.", name);
  int observer = 0;
  for (const auto& table : fields->values) {
    check(is_table_of_two(table), ErrorKind::Input,
          "[data.fixations] {}: an observer's fixations are {}; expected N x 2.", name,
          io::shape_text(table.shape));
    for (std::int64_t row = 0; !table.numbers.empty() && row < table.rows(); ++row) {
      list.fixations.push_back({table.at(row, 0) - 1, table.at(row, 1) - 1});
      list.observers.push_back(observer);
    }
    ++observer;
  }
  return list;
}

/// One picture of CAT2000 or MIT1003: an image of fixated pixels.
FixationList from_pixels(const MatValue& pixels, const std::string& name) {
  check(pixels.kind == MatValue::Kind::Numbers && pixels.shape.size() == 2, ErrorKind::Input,
        "[data.fixations] {}: variable fixLocs is {}; expected height x width.", name,
        io::shape_text(pixels.shape));
  FixationList list;
  if (pixels.numbers.empty()) return list;  // 2^31 x 0 has rows, but nothing in them
  for (std::int64_t y = 0; y < pixels.rows(); ++y) {
    for (std::int64_t x = 0; x < pixels.columns(); ++x) {
      if (pixels.at(y, x) == 0) continue;
      list.fixations.push_back({static_cast<double>(x), static_cast<double>(y)});
    }
  }
  return list;
}

std::vector<FixationList> lists_of(const std::vector<io::MatVariable>& variables,
                                   const std::string& name) {
  const auto cell = std::ranges::find_if(variables, [](const io::MatVariable& variable) {
    return variable.value.kind == MatValue::Kind::Cell;
  });
  check(cell != variables.end(), ErrorKind::Input,
        "[data.fixations] {} holds no fixations that can be read; expected DUT-OMRON's variable s, "
        "SALICON's gaze, CAT2000's fixLocs, or a cell as in OSIE's and PASCAL-S's files.",
        name);
  std::vector<FixationList> lists;
  for (const auto& entry : cell->value.cells) {
    const bool osie = entry.kind == MatValue::Kind::Struct;
    lists.push_back(osie ? from_osie(entry, name) : from_pascal(entry, name));
  }
  return lists;
}

}  // namespace

FixationList read_mat_fixations(const fs::path& path) {
  const auto variables = io::read_mat(path);
  const auto name = path.string();
  for (const auto& [variable, value] : variables) {
    if (variable == "s") return {{}, from_omron(value, name), {}};
    if (variable == "gaze") return from_salicon(value, name);
    if (variable == "fixLocs") return from_pixels(value, name);
  }
  auto lists = lists_of(variables, name);
  check(lists.size() == 1, ErrorKind::Input,
        "[data.fixations] {} holds the fixations of {} pictures; expected one.", name,
        lists.size());
  return std::move(lists.front());
}

std::vector<FixationList> read_fixation_lists(const fs::path& path) {
  return lists_of(io::read_mat(path), path.string());
}

}  // namespace ubique::data

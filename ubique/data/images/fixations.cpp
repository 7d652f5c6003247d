// SPDX-License-Identifier: Apache-2.0
#include "ubique/data/images/fixations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/file.h"
#include "ubique/base/text.h"
#include "ubique/io/image.h"
#include "ubique/io/mat.h"
#include "ubique/io/npz.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;
using io::MatValue;

constexpr std::int64_t kLargestTable = 256LL << 20U;

/// Places of x and y in a heading; the first two columns where it is none.
std::array<std::size_t, 2> csv_columns(const std::vector<std::string>& heading,
                                       const std::string& name) {
  std::array<std::size_t, 2> places{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const auto found = std::ranges::find_if(heading, [&](const std::string& column) {
      return lowercase(column) == (axis == 0 ? "x" : "y");
    });
    check(found != heading.end(), ErrorKind::Input,
          "[data.fixations] {} has no columns x and y; its first line is '{}'.", name,
          join(heading, ","));
    places[axis] = static_cast<std::size_t>(found - heading.begin());
  }
  return places;
}

/// Empty columns are kept: they are places too.
std::vector<std::string> csv_row(std::string_view row) {
  std::vector<std::string> columns;
  for (std::size_t begin = 0; begin <= row.size();) {
    const auto end = std::min(row.find(',', begin), row.size());
    columns.emplace_back(trim(row.substr(begin, end - begin)));
    begin = end + 1;
  }
  return columns;
}

std::vector<Fixation> from_csv(const fs::path& path) {
  const auto text = read_file(path, kLargestTable);
  std::vector<Fixation> fixations;
  std::array<std::size_t, 2> places = {0, 1};
  std::size_t line = 0;
  for (const auto& row : split(text, '\n')) {
    const auto columns = csv_row(row);
    if (line++ == 0 && !parse_number(columns.front())) {
      places = csv_columns(columns, path.string());
      continue;
    }
    const auto number = [&](std::size_t axis) {
      const auto place = places[axis];
      const auto value = place < columns.size() ? parse_number(columns[place]) : std::nullopt;
      check(value.has_value(), ErrorKind::Input,
            "[data.fixations] {} has no number for {} in row {}; got '{}'.", path.string(),
            axis == 0 ? "x" : "y", line, row);
      return *value;
    };
    const double x = number(0);
    fixations.push_back({x, number(1)});
  }
  return fixations;
}

double number_at(const io::HostTensor& tensor, std::size_t i) {
  const auto as = [&]<typename T>(T) {
    T value;
    std::memcpy(&value, tensor.bytes.data() + i * sizeof(T), sizeof(T));
    return static_cast<double>(value);
  };
  switch (tensor.dtype) {
    case DType::F32:
      return as(float{});
    case DType::F64:
      return as(double{});
    case DType::I16:
      return as(std::int16_t{});
    case DType::U16:
      return as(std::uint16_t{});
    case DType::I32:
      return as(std::int32_t{});
    case DType::I64:
      return as(std::int64_t{});
    default:
      fail(ErrorKind::Input,
           "[data.fixations] '{}' has numbers of type {}; expected f32, f64, i16, u16, i32 or i64.",
           tensor.name, to_string(tensor.dtype));
  }
}

std::vector<Fixation> from_array(const io::HostTensor& tensor, const std::string& name) {
  check(tensor.shape.size() == 2 && tensor.shape[1] == 2, ErrorKind::Input,
        "[data.fixations] {} holds an array of {}; expected N x 2: x and y.", name,
        io::shape_text(tensor.shape));
  std::vector<Fixation> fixations;
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.shape[0]); ++i) {
    fixations.push_back({number_at(tensor, 2 * i), number_at(tensor, 2 * i + 1)});
  }
  return fixations;
}

std::vector<Fixation> from_archive(const fs::path& path) {
  const auto tensors = io::read_npz(path);
  const auto* found = io::find_tensor(tensors, "points");
  if (found == nullptr) found = io::find_tensor(tensors, "fixations");
  if (found == nullptr && tensors.size() == 1) found = tensors.data();
  check(found != nullptr, ErrorKind::Input,
        "[data.fixations] {} has {} arrays, none of them called points or fixations.",
        path.string(), tensors.size());
  return from_array(*found, path.string());
}

std::vector<Fixation> from_picture(const fs::path& path) {
  const auto picture = io::as_grey(io::read_image(path, io::Turn::AsStored));
  std::vector<Fixation> fixations;
  for (std::size_t i = 0; i < picture.pixels.size(); ++i) {
    if (picture.pixels[i] <= 127) continue;
    const auto width = static_cast<std::size_t>(picture.width);
    fixations.push_back({static_cast<double>(i % width), static_cast<double>(i / width)});
  }
  return fixations;
}

/// DUT-OMRON's table, sorted by its third column: width and height first.
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

/// One picture of OSIE: all its observers, places cut to whole pixels.
FixationList from_osie(const MatValue& entry, const std::string& name) {
  FixationList list;
  const auto *image = entry.field("img"), *subjects = entry.field("subjects");
  check(image != nullptr && subjects != nullptr && subjects->kind == MatValue::Kind::Cell,
        ErrorKind::Input, "[data.fixations] {} is no file of OSIE; expected img and subjects.",
        name);
  list.stimulus = image->text;
  for (const auto& subject : subjects->cells) {
    const auto *x = subject.field("fix_x"), *y = subject.field("fix_y");
    check(x != nullptr && y != nullptr && x->numbers.size() == y->numbers.size(), ErrorKind::Input,
          "[data.fixations] {}: an observer of {} lacks fix_x or fix_y, or has more of one.", name,
          list.stimulus);
    for (std::size_t i = 0; i < x->numbers.size(); ++i) {
      list.fixations.push_back({std::trunc(x->numbers[i]), std::trunc(y->numbers[i])});
    }
  }
  return list;
}

/// One picture of PASCAL-S: rows and columns from 1.
FixationList from_pascal(const MatValue& entry, const std::string& name) {
  check(entry.kind == MatValue::Kind::Numbers && (entry.numbers.empty() || entry.columns() == 2),
        ErrorKind::Input, "[data.fixations] {} holds {}; expected N x 2: row and column.", name,
        io::shape_text(entry.shape));
  FixationList list;
  for (std::int64_t row = 0; !entry.numbers.empty() && row < entry.rows(); ++row) {
    list.fixations.push_back({entry.at(row, 1) - 1, entry.at(row, 0) - 1});
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
        "or a cell as in OSIE's and PASCAL-S's files.",
        name);
  std::vector<FixationList> lists;
  for (const auto& entry : cell->value.cells) {
    const bool osie = entry.kind == MatValue::Kind::Struct;
    lists.push_back(osie ? from_osie(entry, name) : from_pascal(entry, name));
  }
  return lists;
}

std::vector<Fixation> from_mat(const fs::path& path) {
  const auto variables = io::read_mat(path);
  const auto name = path.string();
  const auto table = std::ranges::find(variables, "s", &io::MatVariable::name);
  if (table != variables.end()) return from_omron(table->value, name);
  auto lists = lists_of(variables, name);
  check(lists.size() == 1, ErrorKind::Input,
        "[data.fixations] {} holds the fixations of {} pictures; expected one.", name,
        lists.size());
  return std::move(lists.front().fixations);
}

}  // namespace

bool is_fixation_name(const fs::path& path) {
  const auto ending = lowercase(path.extension().string());
  return ending == ".csv" || ending == ".npy" || ending == ".npz" || ending == ".mat" ||
         io::is_image_name(path);
}

std::vector<Fixation> read_fixations(const fs::path& path) {
  const auto ending = lowercase(path.extension().string());
  if (ending == ".csv") return from_csv(path);
  if (ending == ".npy") return from_array(io::read_npy(path), path.string());
  if (ending == ".npz") return from_archive(path);
  if (ending == ".mat") return from_mat(path);
  check(io::is_image_name(path), ErrorKind::Input,
        "[data.fixations] {} is of no kind that holds fixations; expected .csv, .npy, .npz, .mat, "
        ".png or .jpg.",
        path.string());
  return from_picture(path);
}

std::vector<FixationList> read_fixation_lists(const fs::path& path) {
  return lists_of(io::read_mat(path), path.string());
}

void write_fixations(const fs::path& path, const std::vector<Fixation>& fixations) {
  std::string text = "x,y\n";
  for (const auto& [x, y] : fixations) text += fmt::format("{},{}\n", x, y);
  write_file(path, text);
}

}  // namespace ubique::data

// SPDX-License-Identifier: Apache-2.0
// Reads fixations from CSV, NumPy arrays and images; writes CSV.
#include "ubique/data/images/fixations.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/data/images/fixations_mat.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/io/images/image.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLargestTable = 16LL << 20U;  // about a million fixations on one picture
constexpr std::size_t kLongestRow = 1U << 16U;

/// Columns of x and y in a header.
std::array<std::size_t, 2> csv_columns(const std::vector<std::string>& heading,
                                       const std::string& name) {
  std::array<std::size_t, 2> columns{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const auto found = std::ranges::find_if(heading, [&](const std::string& column) {
      return lowercase(column) == (axis == 0 ? "x" : "y");
    });
    check(found != heading.end(), ErrorKind::Input,
          "[data.fixations] {} has no columns x and y; its first line is '{}'.", name,
          join(heading, ","));
    columns[axis] = static_cast<std::size_t>(found - heading.begin());
  }
  return columns;
}

/// The column of observers; the number of columns if there is none.
std::size_t observer_column(const std::vector<std::string>& heading) {
  const auto found = std::ranges::find_if(heading, [](const std::string& column) {
    return lowercase(column) == "observer" || lowercase(column) == "subject";
  });
  return static_cast<std::size_t>(found - heading.begin());
}

/// Keeps empty columns, so that the following ones keep their index.
std::vector<std::string> csv_row(std::string_view row) {
  std::vector<std::string> columns;
  for (std::size_t begin = 0; begin <= row.size();) {
    const auto end = std::min(row.find(',', begin), row.size());
    columns.emplace_back(trim(row.substr(begin, end - begin)));
    begin = end + 1;
  }
  return columns;
}

/// The next row that is not empty, trimmed, taken from the front of `text`; nothing at its end.
std::optional<std::string_view> next_row(std::string_view& text, const std::string& name) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto row = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    check(row.size() <= kLongestRow, ErrorKind::Input,
          "[data.fixations] {} has a row of {} bytes; expected at most {}: x and y.", name,
          row.size(), kLongestRow);
    if (!row.empty()) return row;
  }
  return std::nullopt;
}

FixationList from_csv(const fs::path& path) {
  const auto text = read_file(path, kLargestTable);
  const auto name = path.string();
  std::string_view rest = text;
  FixationList list;
  std::map<std::string, int> observers;
  std::array<std::size_t, 2> xy_columns = {0, 1};
  std::size_t line = 0, who = std::string::npos;
  while (const auto found = next_row(rest, name)) {
    const auto row = *found;
    const auto columns = csv_row(row);
    if (line++ == 0 && !parse_number(columns.front())) {
      xy_columns = csv_columns(columns, name);
      who = observer_column(columns);
      if (who == columns.size()) who = std::string::npos;
      continue;
    }
    const auto number = [&](std::size_t axis) {
      const auto column = xy_columns[axis];
      const auto value = column < columns.size() ? parse_number(columns[column]) : std::nullopt;
      check(value.has_value(), ErrorKind::Input,
            "[data.fixations] {} has no number for {} in row {}; got '{}'.", name,
            axis == 0 ? "x" : "y", line, row);
      return *value;
    };
    const double x = number(0);
    list.fixations.push_back({x, number(1)});
    if (who == std::string::npos) continue;
    check(who < columns.size() && !columns[who].empty(), ErrorKind::Input,
          "[data.fixations] {} does not say who looked in row {}; got '{}'.", name, line, row);
    list.observers.push_back(
        observers.emplace(columns[who], static_cast<int>(observers.size())).first->second);
  }
  return list;
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
  const auto picture = io::as_grey(io::read_image(path, io::ExifOrientation::Ignore));
  std::vector<Fixation> fixations;
  for (std::size_t i = 0; i < picture.pixels.size(); ++i) {
    if (picture.pixels[i] <= 127) continue;
    const auto width = static_cast<std::size_t>(picture.width);
    fixations.push_back({static_cast<double>(i % width), static_cast<double>(i / width)});
  }
  return fixations;
}

}  // namespace

bool is_fixation_name(const fs::path& path) {
  const auto ending = lowercase(path.extension().string());
  return ending == ".csv" || ending == ".npy" || ending == ".npz" || ending == ".mat" ||
         io::is_image_name(path);
}

FixationList read_fixation_list(const fs::path& path) {
  const auto ending = lowercase(path.extension().string());
  if (ending == ".csv") return from_csv(path);
  if (ending == ".npy") return {{}, from_array(io::read_npy(path), path.string()), {}};
  if (ending == ".npz") return {{}, from_archive(path), {}};
  if (ending == ".mat") return read_mat_fixations(path);
  check(io::is_image_name(path), ErrorKind::Input,
        "[data.fixations] {} is of no kind that holds fixations; expected .csv, .npy, .npz, .mat, "
        ".png or .jpg.",
        path.string());
  return {{}, from_picture(path), {}};
}

std::vector<Fixation> read_fixations(const fs::path& path) {
  return read_fixation_list(path).fixations;
}

void write_fixations(const fs::path& path, const std::vector<Fixation>& fixations) {
  std::string text = "x,y\n";
  for (const auto& [x, y] : fixations) text += fmt::format("{},{}\n", x, y);
  write_file(path, text);
}

}  // namespace ubique::data

#include "esker_row.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "utils/utils.h"

namespace ycsbc {

namespace {

void AppendText(const std::string &text, std::string &row) {
  const uint32_t length = static_cast<uint32_t>(text.size());
  row.append(reinterpret_cast<const char *>(&length), sizeof length);
  row.append(text);
}

std::string TakeText(const char *&at, const char *end) {
  uint32_t length = 0;
  if (static_cast<size_t>(end - at) < sizeof length) throw utils::Exception("Esker: a row is cut off");
  std::memcpy(&length, at, sizeof length);
  at += sizeof length;
  if (static_cast<size_t>(end - at) < length) throw utils::Exception("Esker: a row is cut off");
  std::string text(at, length);
  at += length;
  return text;
}

}  // namespace

void AppendRow(const std::vector<DB::Field> &fields, std::string &row) {
  for (const DB::Field &field : fields) {
    AppendText(field.name, row);
    AppendText(field.value, row);
  }
}

void ParseRow(const char *row, size_t length, const std::vector<std::string> *names, std::vector<DB::Field> &result) {
  const char *at = row, *const end = row + length;
  while (at != end) {
    const std::string name = TakeText(at, end);
    const std::string value = TakeText(at, end);
    // A copy of both, as in the other bindings.
    if (names == nullptr || std::find(names->begin(), names->end(), name) != names->end()) result.push_back({name, value});
  }
}

}  // namespace ycsbc

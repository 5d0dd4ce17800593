#include "base/finding.h"

#include <fmt/format.h>

namespace maskfit::base {

std::string to_string(const Finding& finding) {
  std::string text = finding.file;
  if (finding.line > 0) text += fmt::format(":{}", finding.line);
  if (finding.line > 0 && finding.column > 0) text += fmt::format(":{}", finding.column);
  if (!text.empty()) text += ": ";
  if (!finding.field.empty()) text += finding.field + ": ";
  text += finding.what;
  if (!finding.remedy.empty()) text += "; " + finding.remedy;
  return text;
}

}  // namespace maskfit::base

#pragma once

// The parts of the page; each returns HTML, or "" when there is nothing to show.

#include <string>

#include "report/report.h"

namespace maskfit::report {

std::string headline_section(const Report& report);
std::string notes_section(const Report& report);
std::string curves_section(const Report& report);
std::string classes_section(const evaluate::Evaluation& evaluation);
std::string precision_recall_chart(const evaluate::Evaluation& evaluation);
std::string confusion_section(const evaluate::Evaluation& evaluation);
std::string facts_section(const Report& report);

// Pictures with boxes; `names` are the classes, detections under `threshold` are left out.
std::string pictures_section(const std::string& heading, const std::string& explanation,
                             const std::vector<Picture>& pictures, const std::vector<std::string>& names,
                             float threshold);

// The page's style and script, written by hand (style.cpp).
extern const char kStyle[];
extern const char kScript[];

}  // namespace maskfit::report

#include <fmt/format.h>

#include <algorithm>

#include "dataset/organise.h"
#include "dataset/public_sets.h"
#include "fetch/disk.h"

namespace maskfit::dataset {
namespace {

const char* state_name(PartState state) {
  return state == PartState::kPresent ? "present" : state == PartState::kPartial ? "partial" : "missing";
}

std::string line_of(const PartStatus& p) {
  std::string text = fmt::format("{:<15} {:<15} {:<8} {:>7} {:>9}", p.set, p.part, state_name(p.state),
                                 p.found, p.published > 0 ? std::to_string(p.published) : "-");
  if (!p.note.empty()) text += "  " + p.note;
  if (p.state == PartState::kPartial && p.missing > 0) {
    text += fmt::format("  {} missing", p.missing);
    for (std::size_t i = 0; i < std::min<std::size_t>(2, p.missing_examples.size()); ++i) {
      text += (i == 0 ? ": " : ", ") + p.missing_examples[i];
    }
    if (p.missing > 2 && !p.missing_examples.empty()) text += ", ...";
  }
  return text + "\n";
}

// In single quotes for a shell, where that is needed.
std::string quoted(const std::string& path) {
  const bool plain =
      path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:@%") ==
      std::string::npos;
  if (plain && !path.empty()) return path;
  std::string out = "'";
  for (const char c : path) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string import_command(const std::string& set, const std::string& folder) {
  std::string command = fmt::format("maskfit data import {} --to data/{}", quoted(folder), set);
  if (set == "kaggle")
    command += " --classes with_mask=mask,without_mask=no-mask,mask_weared_incorrect=ignore";
  if (set == "kaggle-medical")
    command += " --classes mask=mask,good=mask,none=no-mask,bad=no-mask,poor=ignore";
  return command;
}

bool complete(const OrganiseReport& report, const std::string& set) {
  return std::all_of(report.parts.begin(), report.parts.end(),
                     [&](const PartStatus& p) { return p.set != set || p.state == PartState::kPresent; });
}

// Labels and pictures of at least one part: worth an import.
bool usable(const OrganiseReport& report, const std::string& set) {
  bool labels = false, pictures = false;
  for (const PartStatus& p : report.parts) {
    if (p.set != set || p.found == 0) continue;
    (p.part.ends_with("pictures") ? pictures : labels) = true;
  }
  return labels && pictures;
}

std::string where_to_get(const OrganiseReport& report) {
  std::string text;
  for (const PublicSet& set : public_sets()) {
    if (complete(report, set.name)) continue;
    // One set of medical masks will do.
    if (set.name == "kaggle-medical" && report.found_of(set.name) == 0) continue;
    text += fmt::format("  {:<15} maskfit data get {}    ({})\n", set.name, set.name, set.page);
  }
  return text.empty() ? "" : "\nwhere to get what is missing:\n" + text;
}

}  // namespace

std::string organise_text(const OrganiseReport& r, const std::filesystem::path& to, bool dry_run) {
  std::string text =
      fmt::format("{:<15} {:<15} {:<8} {:>7} {:>9}\n", "set", "part", "state", "found", "published");
  for (const PartStatus& line : r.parts) {
    // The older Kaggle set is only of interest when somebody has it.
    if (line.set == "kaggle-medical" && r.found_of(line.set) == 0) continue;
    text += line_of(line);
  }
  text += fmt::format(
      "\n{} files looked at, in {} archives and on disk: {} chosen, {} second copies, {} in no list, {} of "
      "no set\n",
      r.files, r.archives, r.chosen, r.duplicates, r.unlisted, r.others);
  if (dry_run) {
    text += fmt::format("dry run: nothing was written; {} would be written to {}\n",
                        fetch::format_bytes(r.bytes_to_write), to.string());
  } else if (r.chosen > 0) {
    text += fmt::format("{}: {} linked, {} written, {} were there, {} not placed\n", to.string(), r.linked,
                        r.written, r.were_there, r.not_placed);
  }
  text += where_to_get(r);
  std::string commands;
  for (const PublicSet& set : public_sets()) {
    if (usable(r, set.name)) commands += "  " + import_command(set.name, (to / set.name).string()) + "\n";
  }
  if (!commands.empty()) text += "\nnext:\n" + commands;
  return text;
}

}  // namespace maskfit::dataset

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/data_report.h"
#include "cli/work_progress.h"
#include "dataset/kitti_check.h"
#include "dataset/kitti_convert.h"
#include "image/image.h"

namespace maskfit::cli {
namespace fs = std::filesystem;
namespace {

using dataset::ExcludedFaces;
using dataset::KittiSet;

struct Options {
  std::string kaggle, mafa, fddb, wider, label_name = "000_1OC3DT", check_file, excluded = "skip",
                                         portrait = "skip", resize = "stretch", class_names = "lower";
  bool train = false, val = false, check = false, reference_exact = false;
  dataset::KittiOptions kitti;
};

const char* short_name(KittiSet set) {
  switch (set) {
    case KittiSet::kKaggle:
      return "Kaggle";
    case KittiSet::kMafa:
      return "MAFA";
    case KittiSet::kFddb:
      return "FDDB";
    case KittiSet::kWider:
      return "WIDER FACE";
  }
  return "";
}

// The reference's two wordings, number after number as it prints them.
std::string set_line(const dataset::KittiSetReport& report) {
  const auto& [mask, no_mask] = report.counts;
  switch (report.set) {
    case KittiSet::kFddb:
      return fmt::format("FDDB Dataset: Mask Labelled:{} and No-Mask Labelled:{}\n", mask, no_mask);
    case KittiSet::kWider:
      return fmt::format("WideFace: Total Mask Labelled:{} and No-Mask Labelled:{}\n", mask, no_mask);
    default:
      return fmt::format("{}: Total Mask faces: {} and No-Mask faces:{}\n", to_string(report.set), mask,
                         no_mask);
  }
}

// What the reference does not tell: where each set's pictures went.
std::string statistics(const dataset::KittiReport& report) {
  std::string text = fmt::format("\n{:<11}{:>9}{:>8}{:>9}{:>10}{:>9}{:>8}  left out\n", "source", "pictures",
                                 "mask", "no-mask", "DontCare", "dropped", "failed");
  for (const dataset::KittiSetReport& set : report.sets) {
    std::string skipped;
    for (const auto& [why, n] : set.skipped)
      skipped += fmt::format("{}{}: {}", skipped.empty() ? "" : ", ", why, n);
    text += fmt::format("{:<11}{:>9}{:>8}{:>9}{:>10}{:>9}{:>8}  {}\n", short_name(set.set), set.pictures,
                        set.written.mask, set.written.no_mask, set.dont_care, set.dropped, set.failed,
                        skipped.empty() ? "-" : skipped);
    if (!set.note.empty()) text += fmt::format("           {}\n", set.note.substr(0, set.note.size() - 2));
    if (set.overwritten > 0)
      text += fmt::format("           {} pictures were overwritten by later ones of the same name\n",
                          set.overwritten);
  }
  return text;
}

void print_total(const dataset::FaceCounts& total) {
  std::cout << fmt::format("Total Mask Labelled:{} and No-Mask Labelled:{}\n", total.mask, total.no_mask);
}

int convert(Options& o) {
  dataset::KittiOptions& kitti = o.kitti;
  for (const auto& [set, root] : {std::pair{KittiSet::kKaggle, o.kaggle}, std::pair{KittiSet::kMafa, o.mafa},
                                  std::pair{KittiSet::kFddb, o.fddb}, std::pair{KittiSet::kWider, o.wider}}) {
    if (!root.empty()) kitti.roots[set] = root;
  }
  kitti.part = o.train ? dataset::KittiPart::kTrain : dataset::KittiPart::kVal;
  kitti.selection.rules = o.reference_exact ? dataset::KittiRules::kReference : dataset::KittiRules::kCorrect;
  kitti.selection.excluded = o.excluded == "dontcare"     ? ExcludedFaces::kDontCare
                             : o.excluded == "background" ? ExcludedFaces::kBackground
                                                          : ExcludedFaces::kSkipPicture;
  kitti.selection.keep_portrait = o.portrait == "keep";
  kitti.selection.letterbox = o.resize == "letterbox";
  kitti.upstream_classes = o.class_names == "upstream";
  kitti.stop = base::interrupt_token();

  dataset::FaceCounts total;
  std::optional<WorkProgress> progress;
  dataset::KittiObserver observer;
  observer.progress = [&](KittiSet set, std::int64_t done, std::int64_t all) {
    if (!progress) progress.emplace(short_name(set), "pictures");
    progress->update(done, all);
  };
  observer.picture_kept = [](KittiSet set, std::int64_t boxes, const std::string& name) {
    if (set == KittiSet::kWider) std::cout << fmt::format("Len of BBox:{} in Image:{}\n", boxes, name);
  };
  observer.set_done = [&](const dataset::KittiSetReport& report) {
    progress.reset();
    std::cout << set_line(report);
    total.mask += report.counts.mask;
    total.no_mask += report.counts.no_mask;
    if (report.set != KittiSet::kWider) print_total(total);
    std::cout.flush();
  };
  const dataset::KittiReport report = dataset::convert_to_kitti(kitti, observer);
  const std::string rule(52, '-');
  std::cout << rule << "\n"
            << fmt::format("Final: Total Mask Labelled:{}\nTotal No-Mask Labelled:{}\n", total.mask,
                           total.no_mask)
            << rule << "\n"
            << statistics(report) << "\nwritten to " << report.folder.string() << "\n";
  if (!o.train && (!o.kaggle.empty() || !o.fddb.empty()))
    std::cout << "Kaggle and FDDB have no validation part and were not used\n";
  log_findings(report.findings, "");
  return report.failed() > 0 ? 1 : 0;
}

int check(const Options& o) {
  if (o.kitti.base.empty())
    throw base::Error(base::ExitCode::kUsage, "no folder to look into", "--kitti-base-path", "give one");
  const std::string usual = fs::path(o.label_name).filename().string() + "_labels.png";
  const fs::path file = o.check_file.empty() ? usual : o.check_file;
  std::error_code ignored;
  if (!o.kitti.overwrite && fs::exists(file, ignored)) {
    throw base::Error(base::ExitCode::kFailed, "the file exists already", file.string(),
                      "give another name with --check-file, or --overwrite");
  }
  const dataset::CheckedLabels checked = dataset::check_labels(o.kitti.base, o.label_name);
  image::write_image(file, checked.drawn);
  std::vector<std::string> names;
  std::vector<std::vector<float>> boxes;
  for (const auto& label : checked.labels) {
    const boxes::Box& b = label.box_in_image;
    names.push_back(label.class_name);
    boxes.push_back({b.x1, b.y1, b.x2, b.y2});
  }
  std::cout << fmt::format("Bounding Box {}\nCategory: {}\n{} drawn into {}\n", boxes, names,
                           checked.picture.string(), file.string());
  return 0;
}

int run(Options& o) {
  if (o.check) return check(o);
  if (!o.train && !o.val) {
    throw base::Error(base::ExitCode::kUsage, "nothing to do", "--train",
                      "give one of --train, --val, --check_labels");
  }
  return convert(o);
}

void declare_own_options(CLI::App& app, Options& o) {
  app.add_flag("--reference-exact", o.reference_exact,
               "Select, box, name and count as the original does, its faults included");
  app.add_option(
         "--excluded-faces", o.excluded,
         "Pictures with faces that a rule or the limit excludes: skip the picture, label them dontcare, "
         "or leave them as background")
      ->check(CLI::IsMember({"skip", "dontcare", "background"}))
      ->capture_default_str();
  app.add_option("--portrait", o.portrait, "MAFA's pictures that are higher than wide: skip or keep")
      ->check(CLI::IsMember({"skip", "keep"}))
      ->capture_default_str();
  app.add_option("--wider-max-faces", o.kitti.selection.wider_max_faces,
                 "Leave out pictures of WIDER FACE with more faces; 0: none")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  app.add_option("--min-face", o.kitti.selection.min_face,
                 "Exclude faces below this many pixels of the output")
      ->check(CLI::Range(0.0, 10000.0))
      ->capture_default_str();
  app.add_option("--resize", o.resize,
                 "stretch, or letterbox: keep the aspect ratio, pad to the right and below")
      ->check(CLI::IsMember({"stretch", "letterbox"}))
      ->capture_default_str();
  app.add_option("--class-names", o.class_names, "lower (mask, no-mask) or upstream (Mask, No-Mask)")
      ->check(CLI::IsMember({"lower", "upstream"}))
      ->capture_default_str();
  app.add_option("--val-folder", o.kitti.val_folder, "Folder of the validation part below the base path")
      ->check(CLI::IsMember({"test", "val"}))
      ->capture_default_str();
  app.add_option("--check-file", o.check_file, "Picture that --check_labels draws [NAME_labels.png]");
  app.add_flag("--overwrite,--force", o.kitti.overwrite, "Replace an earlier conversion");
}

}  // namespace

Command data_kitti_command() {
  return {
      "data kitti", "The reference's data2kitti: Kaggle, MAFA, FDDB and WIDER FACE as one KITTI folder",
      [](CLI::App& app) -> std::function<int()> {
        auto o = std::make_shared<Options>();
        app.add_option("--kaggle-dataset-path", o->kaggle, "Kaggle's medical masks: images/ and labels/");
        app.add_option("--mafa-dataset-path", o->mafa, "MAFA: MAFA-Label-Train/, train-images/, ...");
        app.add_option("--fddb-dataset-path", o->fddb, "FDDB: 2002/, 2003/ and FDDB-folds/");
        app.add_option("--widerface-dataset-path", o->wider,
                       "WIDER FACE: wider_face_split/, WIDER_train/, WIDER_val/");
        app.add_option("--kitti-base-path", o->kitti.base, "Where train/ and test/ are written");
        app.add_option("--category-limit", o->kitti.limit, "Faces of each class, over all sets")
            ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
            ->capture_default_str();
        app.add_option("--tlt-input-dims_width,--tlt-input-dims-width", o->kitti.selection.output.width,
                       "Width of the output pictures")
            ->capture_default_str();
        app.add_option("--tlt-input-dims_height,--tlt-input-dims-height", o->kitti.selection.output.height,
                       "Height of the output pictures")
            ->capture_default_str();
        app.add_option("--label_filename,--label-filename", o->label_name,
                       "Picture that --check_labels shows, without its ending")
            ->capture_default_str();
        auto* train = app.add_flag("--train", o->train, "Write the training part");
        auto* val =
            app.add_flag("--val", o->val, "Write the validation part (MAFA and WIDER FACE)")->excludes(train);
        app.add_flag("--check_labels,--check-labels", o->check, "Draw the boxes of one converted picture")
            ->excludes(train)
            ->excludes(val);
        declare_own_options(app, *o);
        return [o] { return run(*o); };
      }};
}

}  // namespace maskfit::cli

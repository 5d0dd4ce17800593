#include "dataset/import_content.h"

#include <algorithm>
#include <cctype>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/text.h"
#include "dataset/export_staging.h"
#include "formats/coco.h"
#include "formats/crc32c.h"
#include "formats/csv_boxes.h"
#include "formats/fddb.h"
#include "formats/labelme.h"
#include "formats/little_endian.h"
#include "formats/mat5.h"
#include "formats/text_lines.h"
#include "formats/widerface.h"
#include "formats/yolo.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

bool is_picture(std::string_view b) {
  using namespace std::string_view_literals;
  const auto box = b.size() > 12 ? b.substr(4, 8) : ""sv;
  return b.starts_with("\xFF\xD8\xFF"sv) || b.starts_with("\x89PNG\r\n"sv) || b.starts_with("GIF8"sv) ||
         (b.starts_with("RIFF"sv) && b.size() > 12 && b.substr(8, 4) == "WEBP"sv) ||
         (b.starts_with("BM"sv) && b.size() > 26 && b.substr(6, 4) == "\0\0\0\0"sv) ||
         b.starts_with("II*\0"sv) || b.starts_with("MM\0*"sv) ||
         (box.starts_with("ftyp"sv) &&
          (box.ends_with("avif"sv) || box.ends_with("heic"sv) || box.ends_with("mif1"sv)));
}

bool is_text(std::string_view bytes) {
  return std::none_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 32 && byte != '\n' && byte != '\r' && byte != '\t' && byte != '\f';
  });
}

// A length of eight bytes and its masked CRC.
bool is_tfrecord(std::string_view bytes) {
  return bytes.size() >= 16 &&
         formats::mask_crc(formats::crc32c(bytes.substr(0, 8))) == formats::load_le<std::uint32_t>(bytes, 8);
}

// A word, then numbers. How many fields there must be is for the parser to say, with the line.
bool is_kitti(std::string_view text) {
  formats::TextLines lines(text);
  for (std::string_view line; lines.next(&line);) {
    const std::vector<std::string> words = base::split_words(line);
    if (words.empty()) continue;
    const auto numbers = std::count_if(words.begin(), words.end(), [](std::string word) {
      std::replace(word.begin(), word.end(), ',', '.');
      float ignored = 0;
      return base::parse_float(word, &ignored);
    });
    float ignored = 0;
    return words.size() >= 12 && numbers >= 10 && !base::parse_float(words[0], &ignored);
  }
  return false;
}

bool names_classes(const fs::path& name) {
  const std::string file = base::to_lower(name.filename().string());
  return file.ends_with(".names") || file == "classes.txt" || file == "names.txt" || file == "labels.txt" ||
         file == "label.txt" || file == "class_names.txt" || file == "_darknet.labels" ||
         file == "predefined_classes.txt";
}

Content text_content(std::string_view text, const fs::path& name) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) return Content::kEmpty;
  if (text[first] == '<') return Content::kVoc;
  if (text[first] == '{' || text[first] == '[') {
    if (formats::is_coco_text(text)) return Content::kCoco;
    if (formats::is_labelme_text(text)) return Content::kLabelme;
    if (name.filename() == StagedFolder::kMarkFile &&
        text.find("maskfit data convert") != std::string_view::npos)
      return Content::kConversion;
    return Content::kText;
  }
  if (names_classes(name)) return Content::kNames;
  if (formats::is_csv_boxes_text(text)) return Content::kCsv;
  const std::string ending = base::to_lower(name.extension().string());
  if (ending == ".yaml" || ending == ".yml") return Content::kYaml;
  if (formats::is_wider_text(text)) return Content::kWiderText;
  if (formats::is_fddb_text(text)) return Content::kFddb;
  if (formats::is_yolo_text(text)) return Content::kYolo;
  if (is_kitti(text)) return Content::kKitti;
  // The last line may be cut off where the beginning ends.
  if (!formats::parse_fddb_paths(text.substr(0, text.rfind('\n'))).empty()) return Content::kPathList;
  return Content::kText;
}

std::string read_beginning(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string bytes(kContentBytes, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, stream.gcount())));
  const std::size_t first = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool json = first != std::string::npos && (bytes[first] == '{' || bytes[first] == '[');
  // The keys that tell one JSON from the other may come last.
  return json && bytes.size() == kContentBytes ? base::read_file(path) : bytes;
}

}  // namespace

Content content_of(std::string_view beginning, const fs::path& name) {
  if (is_picture(beginning)) return Content::kPicture;
  if (formats::is_mat_file(beginning) || base::to_lower(name.extension().string()) == ".mat") {
    // Variables may be compressed, so that only the name tells before all is read.
    return base::to_lower(name.filename().string()).find("wider") != std::string::npos ? Content::kWiderMat
                                                                                       : Content::kMafa;
  }
  if (is_tfrecord(beginning)) return Content::kTfrecord;
  return is_text(beginning) ? text_content(beginning, name) : Content::kOther;
}

std::vector<Content> identify(const fs::path& folder, const std::vector<SurveyedFile>& files,
                              const base::StopToken& stop) {
  std::vector<Content> contents(files.size(), Content::kOther);
  base::parallel_for(static_cast<std::int64_t>(files.size()), [&](std::int64_t i) {
    stop.throw_if_requested();
    const SurveyedFile& file = files[static_cast<std::size_t>(i)];
    if (file.path.filename().string().starts_with('.')) return;
    std::error_code error;
    if (!fs::is_regular_file(folder / file.path, error)) return;
    try {
      contents[static_cast<std::size_t>(i)] = content_of(read_beginning(folder / file.path), file.path);
    } catch (const base::Error&) {
      // Reading it in earnest says why.
    }
  });
  return contents;
}

const char* content_name(Content content) {
  switch (content) {
    case Content::kPicture:
      return "picture";
    case Content::kVoc:
      return "Pascal VOC label";
    case Content::kLabelme:
      return "LabelMe label";
    case Content::kCoco:
      return "COCO annotation file";
    case Content::kMafa:
      return "MAFA annotation file";
    case Content::kWiderMat:
    case Content::kWiderText:
      return "WIDER FACE annotation file";
    case Content::kFddb:
      return "FDDB ellipse list";
    case Content::kCsv:
      return "CSV annotation file";
    case Content::kKitti:
      return "KITTI label";
    case Content::kYolo:
      return "YOLO label";
    case Content::kNames:
      return "list of class names";
    case Content::kYaml:
      return "YAML file";
    case Content::kPathList:
      return "list of pictures";
    case Content::kTfrecord:
      return "TFRecord";
    case Content::kConversion:
      return "record of a conversion by maskfit";
    case Content::kEmpty:
      return "empty file";
    case Content::kText:
      return "text";
    case Content::kOther:
      break;
  }
  return "unknown file";
}

}  // namespace maskfit::dataset

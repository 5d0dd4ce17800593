// Whole folders and our own files after somebody bent them: an import accounts for every file or refuses, and
// a manifest is read as it was written or refused.

#include "tests/support/mutation.h"
#include "base/error.h"
#include "dataset/export_labels.h"
#include "dataset/picture_cache.h"
#include "dataset/tfrecords.h"
#include "formats/tfrecord.h"
#include "tests/support/import_fixture.h"

namespace maskfit::dataset {
namespace {

class MutatedImport : public ImportTest {
 protected:
  // Imports the folder with each file in turn mutated, `rounds` times in all.
  void expect_accounts(int rounds) {
    std::vector<std::pair<std::string, std::string>> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (!entry.is_regular_file()) continue;
      files.emplace_back(entry.path().lexically_relative(folder_.path()).string(),
                         base::read_file(entry.path()));
    }
    std::sort(files.begin(), files.end());
    for (int round = 0; round < rounds; ++round) {
      const auto& [name, bytes] = files[static_cast<std::size_t>(round) % files.size()];
      SCOPED_TRACE(testing::Message() << "round " << round << " of " << name);
      file(name, support::mutated(bytes, round));
      ImportOptions options;
      options.classes = ClassMap("*");
      try {
        import(options);  // the fixture checks the account
      } catch (const base::Error& error) {
        EXPECT_EQ(error.code(), base::ExitCode::kRefused) << error.what();
      }
      file(name, bytes);
    }
  }
};

TEST_F(MutatedImport, FoldersOfLabelFiles) {
  for (const char* name : {"a", "b"}) {
    picture(fmt::format("images/{}.jpg", name));
    picture(fmt::format("images/k{}.png", name));
    voc(fmt::format("annotations/{}.xml", name), "mask");
    file(fmt::format("labels/{}.txt", name), "0 0.5 0.5 0.2 0.3\n1 0.25 0.5 0.1 0.1\n");
    file(fmt::format("kitti/k{}.txt", name), "mask 0 0 0 1 2 30 40 0 0 0 0 0 0 0\n");
  }
  file("data.yaml", "names: [mask, no-mask]\n");
  file("ImageSets/Main/train.txt", "a\n");
  expect_accounts(support::mutation_rounds(400));
}

TEST_F(MutatedImport, FoldersOfAnnotationFiles) {
  for (const char* name : {"a", "b", "2002/c"}) picture(fmt::format("images/{}.jpg", name));
  file("coco.json",
       R"({"images": [{"id": 1, "file_name": "a.jpg"}], "categories": [{"id": 3, "name": "mask"}],
                        "annotations": [{"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 2, 30, 40]}]})");
  file("boxes.csv", "filename,width,height,class,xmin,ymin,xmax,ymax\nb.jpg,100,80,mask,10,20,30,40\n");
  file("images/ellipseList.txt", "2002/c\n1\n20.5 10.25 0.3 40 40  1\n");
  file("conversion.json", R"({"written_by": "maskfit data convert", "classes": ["no-mask", "mask"]})");
  expect_accounts(support::mutation_rounds(400));
}

TEST(Mutations, ManifestIsReadAsWrittenOrRefused) {
  const support::TempDir folder;
  Dataset data;
  data.root = folder.path();
  data.class_names = {"mask", "no-mask"};
  for (const char* id : {"a", "b"})
    data.samples.push_back({id, "x.jpg", 100, 80, {{{1, 2, 30, 40}, "mask", false, {}}}, "train", "g"});
  write_dataset(data, {{base::Severity::kWarning, "f", 1, "", "what", "remedy"}}, "by hand");
  for (const char* name : {"samples.jsonl", "dataset.json", "findings.jsonl"}) {
    const std::string good = base::read_file(folder / name);
    support::expect_survives(
        good,
        [&](const std::string& bytes) {
          std::ofstream(folder / name, std::ios::binary) << bytes;
          read_findings(folder.path());
          const Dataset back = read_dataset(folder.path());
          if (std::string(name) == "samples.jsonl") {
            EXPECT_EQ(digest(back), digest(data));
          }
        },
        support::mutation_rounds(150));
    base::write_file(folder / name, good);
  }
}

TEST(Mutations, PictureCacheIsReadAsWrittenOrNotAtAll) {
  FactsByPath facts;
  facts["a"].digest = "x";
  facts["b"].notes = {"y", "z"};
  support::expect_survives(pack_facts(facts), [&](const std::string& bytes) {
    const auto back = unpack_facts(bytes);
    if (!back) return;
    EXPECT_EQ(bytes, pack_facts(*back).size() == bytes.size() ? bytes : "");
    EXPECT_EQ(back->size(), 2u);
  });
}

// With CRCs of their own, so that mutations reach what is inside.
TEST(Mutations, RecordsOfFrames) {
  const support::TempDir folder;
  Dataset data;
  data.root = folder.path();
  const image::Image plain{40, 30, 3, std::vector<std::uint8_t>(3600, 9)};
  base::write_file(folder / "a.png", image::encode_png(plain));
  data.samples.push_back({"a", "a.png", 40, 30, {{{1, 2, 30, 20}, "mask", false, {}}}, "train", ""});
  normalise(data);
  TfrecordExportOptions options;
  options.prefix = (folder / "records/r").string();
  options.num_shards = 1;
  options.image_directory = folder.path();
  const auto written = export_tfrecords(data, options);
  const fs::path file = written.folds.at(0).files.at(0);
  const std::string bytes = base::read_file(file);
  formats::RecordReader reader(bytes, "f");
  std::string_view payload;
  ASSERT_TRUE(reader.next(&payload));
  support::expect_survives(
      std::string(payload),
      [&](const std::string& bent) {
        std::string record;
        formats::append_record(record, bent);
        std::ofstream(file, std::ios::binary) << record;
        base::Findings findings;
        read_tfrecords({file.string(), folder.path(), ""}, std::nullopt, &findings);
      },
      support::mutation_rounds(1000));
}

}  // namespace
}  // namespace maskfit::dataset

#include "dataset/public_sets.h"

namespace maskfit::dataset {
namespace {

// The SHA-256 and sizes of WIDER FACE are those of the TensorFlow Datasets catalogue, the SHA-1 of FDDB's
// folds that of the VIPY library.
PublicSet kaggle() {
  return {"kaggle",
          "Face Mask Detection (andrewmvd, Kaggle)",
          "https://www.kaggle.com/datasets/andrewmvd/face-mask-detection",
          "CC0 1.0",
          {{"kaggle",
            "853 pictures with Pascal VOC labels",
            "face-mask-detection.zip",
            {},
            "andrewmvd/face-mask-detection",
            0,
            "about 400 MB",
            ""}},
          {"open https://www.kaggle.com/datasets/andrewmvd/face-mask-detection in a browser and sign in",
           "click 'Download', then 'Download dataset as zip'"}};
}

PublicSet kaggle_medical() {
  return {"kaggle-medical",
          "Medical Masks Dataset (Kaggle, 2020)",
          "https://www.kaggle.com/datasets/ivandanilovich/medical-masks-dataset-images-tfrecords",
          "see its page",
          {{"kaggle-medical",
            "pictures with Pascal VOC labels",
            "medical-masks-dataset-images-tfrecords.zip",
            {},
            "ivandanilovich/medical-masks-dataset-images-tfrecords",
            0,
            "not published",
            ""}},
          {"open https://www.kaggle.com/datasets/ivandanilovich/medical-masks-dataset-images-tfrecords in a "
           "browser "
           "and sign in",
           "click 'Download', then 'Download dataset as zip'"}};
}

PublicSet mafa() {
  return {
      "mafa",
      "MAFA (MAsked FAces)",
      "https://imsg.ac.cn/research/maskedface.html",
      "none stated; published for research",
      {},
      {"open https://imsg.ac.cn/research/maskedface.html, the authors' page, in a browser; its downloads lie "
       "on "
       "Google Drive and Baidu",
       "or open https://drive.google.com/drive/folders/1nbtM1n0--iZ3VVbNGhocxbnBGhMau_OG, the same folder on "
       "Google Drive, and click 'Download all' at the top (Drive packs it into several zip files: keep all)",
       "or, with a Kaggle token, run: maskfit data get "
       "https://www.kaggle.com/datasets/rahulmangalampalli/mafa-data (somebody's copy; the counts tell "
       "whether "
       "it is whole)",
       "four parts are needed: train-images, test-images, MAFA-Label-Train (LabelTrainAll.mat), "
       "MAFA-Label-Test "
       "(LabelTestAll.mat)"}};
}

PublicSet fddb() {
  return {"fddb",
          "FDDB (Face Detection Data Set and Benchmark)",
          "http://vis-www.cs.umass.edu/fddb/",
          "none stated; press photographs",
          {{"fddb-pictures",
            "originalPics: 28,204 pictures, 2,845 of them in the folds",
            "originalPics.tar.gz",
            {"http://vis-www.cs.umass.edu/fddb/originalPics.tar.gz",
             "http://tamaraberg.com/faceDataset/originalPics.tar.gz"},
            "",
            0,
            "about 550 MB",
            ""},
           {"fddb-folds",
            "ten folds with 5,171 ellipses",
            "FDDB-folds.tgz",
            {"http://vis-www.cs.umass.edu/fddb/FDDB-folds.tgz"},
            "",
            0,
            "below 1 MB",
            "sha1:94ce19ba3348425dfbb8bcbe55802490f8f152f8"}},
          {"open http://vis-www.cs.umass.edu/fddb/ in a browser",
           "download 'Original, unannotated set of images' and 'Face annotations'"}};
}

PublicFile wider_file(const std::string& part, const std::string& what, const std::string& drive_id,
                      std::uint64_t bytes, const std::string& size, const std::string& digest) {
  const std::string file = "WIDER_" + part + ".zip";
  return {"wider-" + part,
          what,
          file,
          {"https://huggingface.co/datasets/CUHK-CSE/wider_face/resolve/main/data/" + file,
           "https://drive.google.com/file/d/" + drive_id + "/view"},
          "",
          bytes,
          size,
          "sha256:" + digest,
          part != "test"};
}

PublicSet widerface() {
  return {
      "widerface",
      "WIDER FACE",
      "http://shuoyang1213.me/WIDERFACE/",
      "CC BY-NC-ND 4.0",
      {wider_file("train", "12,880 training pictures", "15hGDLhsx8bLgLcIRD5DhYt5iBxnjNF1M", 1465602149,
                  "1.36 GiB", "e23b76129c825cafae8be944f65310b2e1ba1c76885afe732f179c41e5ed6d59"),
       wider_file("val", "3,226 validation pictures", "1GUCogbp16PMGa39thoMMeWxp7Rp5oM8Q", 362752168,
                  "346 MiB", "f9efbd09f28c5d2d884be8c0eaef3967158c866a593fc36ab0413e4b2a58a17a"),
       wider_file("test", "16,097 pictures without labels", "1HIfDbVEWKmsYKJZm4lchTBDLW5N7dY5T", 1844140520,
                  "1.72 GiB", "3b0313e11ea292ec58894b47ac4c0503b230e12540330845d70a7798241f88d3"),
       {"wider-split",
        "the labels of train and val",
        "wider_face_split.zip",
        {"http://shuoyang1213.me/WIDERFACE/support/bbx_annotation/wider_face_split.zip",
         "https://huggingface.co/datasets/CUHK-CSE/wider_face/resolve/main/data/wider_face_split.zip",
         "https://drive.google.com/file/d/1sAl2oml7hK6aZRdgRjqQJsjV5CEr7nl4/view"},
        "",
        3591642,
        "3.4 MiB",
        "sha256:c7561e4f5e7a118c249e0a5c5c902b0de90bbf120d7da9fa28d99041f68a8a5c"}},
      {"open http://shuoyang1213.me/WIDERFACE/ in a browser, section 'Download'",
       "download 'WIDER Face Training Images', 'WIDER Face Validation Images' and 'Face annotations'"}};
}

}  // namespace

const std::vector<PublicSet>& public_sets() {
  static const std::vector<PublicSet> sets = {kaggle(), kaggle_medical(), mafa(), fddb(), widerface()};
  return sets;
}

const PublicSet* find_public_set(const std::string& name) {
  for (const PublicSet& set : public_sets()) {
    if (set.name == name || (name == "wider" && set.name == "widerface")) return &set;
  }
  return nullptr;
}

NamedFile find_public_file(const std::string& name) {
  for (const PublicSet& set : public_sets()) {
    for (const PublicFile& file : set.files) {
      if (file.name == name) return {&set, &file};
    }
  }
  return {};
}

std::vector<std::string> public_names() {
  std::vector<std::string> names;
  for (const PublicSet& set : public_sets()) names.push_back(set.name);
  for (const PublicSet& set : public_sets()) {
    for (const PublicFile& file : set.files) {
      if (file.name != set.name) names.push_back(file.name);
    }
  }
  return names;
}

}  // namespace maskfit::dataset

#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "base/error.h"
#include "base/files.h"
#include "image/draw.h"
#include "tests/support/temp_dir.h"

namespace maskfit::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

evaluate::PictureResult result() {
  return {"street/<1>",
          {{{10, 10, 60, 60}, 0, 0.9f},
           {{100, 10, 150, 60}, 0, 0.8f},
           {{0, 100, 30, 130}, 1, 0.7f},
           {{70, 70, 80, 80}, 1, 0.01f}},
          {{{10, 10, 60, 60}, 0, false},
           {{100, 10, 150, 60}, 1, false},
           {{150, 100, 190, 140}, 1, false},
           {{60, 120, 90, 150}, -1, true}}};
}

Report full() {
  Report report;
  report.title = "run & <test>";
  report.subtitle = "resnet18";
  report.headline = {{"pictures per second", "1,063"}};
  report.notes = {"mask has no objects"};
  report.losses = {{"total", {{0, 3}, {1, 2}, {2, 1}}, {}}, {"mask cov", {{0, 1}, {1, 0.5}, {2, 0.2}}, {}}};
  report.learning_rate = Series{"learning rate", {{0, 1e-5}, {1, 5e-4}, {2, 5e-6}}, {}};
  report.ap = {{"mAP", {{1, 0.2}, {2, 0.6}}, {}}};
  evaluate::Options options;
  options.confusion_threshold = 0.5f;
  report.evaluation = evaluate::evaluate({result()}, {"mask", "no-mask"}, {}, options);
  report.worst = {
      {"street/<1>", image::filled({200, 160}, {90, 120, 150}), result().truths, result().detections}};
  report.facts = {{"Run", {{"seed", "42"}}}};
  report.spec_text = "random_seed: 42\n";
  return report;
}

// Every opening tag has its closing one, in order.
void expect_well_formed(const std::string& html) {
  static const std::set<std::string> kVoid = {"meta", "img", "input", "br"};
  std::vector<std::string> open;
  const std::regex tag(R"(<(/?)([a-zA-Z0-9]+)([^<>]*?)(/?)>)");
  for (std::sregex_iterator it(html.begin(), html.end(), tag), end; it != end; ++it) {
    const std::string name = (*it)[2];
    if (kVoid.count(name) > 0 || (*it)[4].length() > 0) continue;
    if ((*it)[1].length() == 0) {
      open.push_back(name);
      continue;
    }
    ASSERT_FALSE(open.empty()) << "closing " << name;
    ASSERT_EQ(open.back(), name) << "at ..." << html.substr(it->position(), 80);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

// Style, script and picture data are no markup.
std::string markup(const std::string& html) {
  std::string text = html;
  for (const auto& [from, to] : {std::pair{"<style>", "</style>"}, std::pair{"<script>", "</script>"}}) {
    const std::size_t begin = text.find(from) + std::string(from).size();
    text.erase(begin, text.find(to, begin) - begin);
  }
  for (std::size_t at; (at = text.find("data:image/jpeg")) != std::string::npos;) {
    text.erase(at, text.find('"', at) - at);
  }
  return text;
}

TEST(Report, HoldsEverySection) {
  const std::string html = render(full());
  for (const char* part :
       {"mAP50:95", "Read this first", "Loss", "Learning rate", "Average precision on the validation",
        "Precision over recall", "Classes", "What was taken for what", "with the most errors", "Facts",
        "The effective spec", "pictures per second"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
}

TEST(Report, IsWellFormed) {
  expect_well_formed(markup(render(full())));
}

TEST(Report, AnEmptyRunIsAWholePage) {
  const std::string html = render({});
  expect_well_formed(markup(html));
  EXPECT_THAT(markup(html), Not(HasSubstr("<h2>")));
}

TEST(Report, NeedsNoOtherHost) {
  const std::string html = render(full());
  EXPECT_THAT(html, Not(HasSubstr("https:")));
  // The name of SVG's namespace is the only address, and nothing is fetched from it.
  std::string rest = html;
  const std::string space = "http://www.w3.org/2000/svg";
  for (std::size_t at; (at = rest.find(space)) != std::string::npos;) rest.erase(at, space.size());
  EXPECT_THAT(rest, Not(HasSubstr("http:")));
  EXPECT_THAT(rest, Not(HasSubstr("src=\"/")));
  EXPECT_THAT(rest, Not(HasSubstr("@import")));
}

TEST(Report, EscapesNamesFromTheData) {
  const std::string html = render(full());
  EXPECT_THAT(html, HasSubstr("run &amp; &lt;test&gt;"));
  EXPECT_THAT(html, HasSubstr("street/&lt;1&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("street/<1>")));
}

TEST(Report, MarksEveryKindOfBoxAndLeavesOutUnsureDetections) {
  const std::string html = render(full());
  EXPECT_THAT(html, HasSubstr("missed: no-mask"));
  EXPECT_THAT(html, HasSubstr("is no-mask"));
  EXPECT_THAT(html, HasSubstr("mask 0.90"));
  EXPECT_THAT(html, HasSubstr("<g class=\"ignored\">"));
  EXPECT_THAT(html, HasSubstr("<g class=\"false\">"));
  EXPECT_THAT(html, Not(HasSubstr("no-mask 0.01")));
  EXPECT_THAT(html, HasSubstr("1 missed, 1 wrong class, 1 false alarm, 1 right"));
}

TEST(Report, LargePicturesAreScaledDownButBoxesKeepTheirFrame) {
  Report report = full();
  report.worst[0].image = image::filled({4000, 3000}, {90, 120, 150});
  const std::string html = render(report);
  EXPECT_LT(html.size(), 200000u);
  EXPECT_THAT(html, HasSubstr("viewBox=\"0 0 4000 3000\""));
}

TEST(Report, AClassWithoutObjectsIsNamedAsSuch) {
  Report report;
  report.evaluation = evaluate::evaluate({}, {"mask"}, {}, {});
  EXPECT_THAT(render(report), HasSubstr("no objects to find"));
}

TEST(Report, WritesAtomically) {
  const support::TempDir dir;
  write(dir / "report.html", full());
  EXPECT_THAT(base::read_file(dir / "report.html"), HasSubstr("</html>"));
}

}  // namespace
}  // namespace maskfit::report

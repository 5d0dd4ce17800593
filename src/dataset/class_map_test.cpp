#include "dataset/class_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::dataset {
namespace {

TEST(ClassMap, ProductsOwnClassesAndDontCareNeedNoEntry) {
  const ClassMap map;
  EXPECT_EQ(map.find("mask"), (MappedClass{"mask", false}));
  EXPECT_EQ(map.find("No-Mask"), (MappedClass{"no-mask", false}));
  EXPECT_EQ(map.find("DontCare"), (MappedClass{"dontcare", true}));
  EXPECT_EQ(map.find("with_mask"), std::nullopt);
}

TEST(ClassMap, EntriesRenameKeepAndIgnore) {
  const ClassMap map("with_mask=mask, face=no-mask,wrong=ignore,helmet");
  EXPECT_EQ(map.find("with_mask"), (MappedClass{"mask", false}));
  EXPECT_EQ(map.find("face"), (MappedClass{"no-mask", false}));
  EXPECT_EQ(map.find("wrong"), (MappedClass{"wrong", true}));
  EXPECT_EQ(map.find("helmet"), (MappedClass{"helmet", false}));
  EXPECT_EQ(map.find("mask"), (MappedClass{"mask", false}));
  EXPECT_EQ(map.find("dog"), std::nullopt);
}

TEST(ClassMap, CaseMattersOnlyWhereAnEntrySaysSo) {
  const ClassMap map("Face=no-mask,FACE=ignore");
  EXPECT_EQ(map.find("Face"), (MappedClass{"no-mask", false}));
  EXPECT_EQ(map.find("FACE"), (MappedClass{"FACE", true}));
  EXPECT_EQ(ClassMap("Face=no-mask").find("face"), (MappedClass{"no-mask", false}));
}

TEST(ClassMap, TargetOfAnEntryIsAKnownClass) {
  EXPECT_EQ(ClassMap("face=Person").find("person"), (MappedClass{"Person", false}));
}

TEST(ClassMap, StarStandsForAllOthers) {
  EXPECT_EQ(ClassMap("*").find("Dog"), (MappedClass{"Dog", false}));
  EXPECT_EQ(ClassMap("face=no-mask,*=ignore").find("Dog"), (MappedClass{"Dog", true}));
  EXPECT_EQ(ClassMap("*=mask").find("Dog"), (MappedClass{"mask", false}));
}

TEST(ClassMap, ProductsOwnClassCanBeMappedElsewhere) {
  EXPECT_EQ(ClassMap("mask=ignore").find("mask"), (MappedClass{"mask", true}));
}

TEST(ClassMap, LowerCaseIsWhatTheReferenceStores) {
  EXPECT_EQ(ClassMap::lower_case().find("With_Mask"), (MappedClass{"with_mask", false}));
  EXPECT_EQ(ClassMap::lower_case().find("DontCare"), (MappedClass{"dontcare", true}));
}

TEST(ClassMap, NameMayHoldAnEqualsSign) {
  EXPECT_EQ(ClassMap("a=b=mask").find("a=b"), (MappedClass{"mask", false}));
}

TEST(ClassMapRefuses, EntriesWithoutANameOrGivenTwice) {
  for (const char* text : {"=mask", "a=", "a=mask,,b=mask", "a=mask,a=no-mask", "*,*=ignore"}) {
    EXPECT_THROW(ClassMap{text}, base::Error) << text;
  }
}

TEST(SuggestClasses, WellKnownNamesOfPublicSets) {
  EXPECT_EQ(suggest_classes_option({{"with_mask", 219}, {"without_mask", 50}, {"mask_weared_incorrect", 9}}),
            "--classes mask_weared_incorrect=ignore,with_mask=mask,without_mask=no-mask");
  EXPECT_EQ(suggest_classes_option({{"No_Mask", 93}}), "--classes No_Mask=no-mask");
  EXPECT_EQ(suggest_classes_option({{"good", 1}, {"none", 1}}), "--classes good=mask,none=no-mask");
}

TEST(SuggestClasses, OtherClassesKeepTheirNamesAndTheTextIsPastable) {
  const std::string option = suggest_classes_option({{"Traffic light", 2}, {"face", 61}});
  EXPECT_EQ(option, "--classes 'Traffic light,face=no-mask'");
  EXPECT_EQ(ClassMap("Traffic light,face=no-mask").find("Traffic light"),
            (MappedClass{"Traffic light", false}));
}

}  // namespace
}  // namespace maskfit::dataset

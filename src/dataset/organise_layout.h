#pragma once

// The second half of the plan: which found file goes where in the canonical layout, and what is missing.
//
//   kaggle/images/*  kaggle/labels/*.xml                       and the same below kaggle-medical/
//   mafa/MAFA-Label-{Train,Test}/Label{Train,Test}All.mat      mafa/{train,test}-images/images/*.jpg
//   fddb/FDDB-folds/FDDB-fold-NN{,-ellipseList}.txt            fddb/YYYY/MM/DD/big/img_N.jpg
//   widerface/wider_face_split/wider_face_{train,val}{.mat,_bbx_gt.txt}, wider_face_test{.mat,_filelist.txt}
//   widerface/WIDER_{train,val,test}/images/EVENT/*.jpg

#include <map>
#include <string>
#include <vector>

#include "dataset/organise.h"
#include "dataset/organise_recognise.h"

namespace maskfit::dataset {

// Target in the layout -> the files that could go there, the best one first: the largest (a half-unpacked
// folder holds shortened files), then one that is on disk already, then the first.
using Layout = std::map<std::string, std::vector<const FoundFile*>>;

// Fills in parts, chosen, duplicates, unlisted and others of the report. `found` must outlive the layout.
Layout lay_out(const std::vector<FoundFile>& found, OrganiseReport* report);

}  // namespace maskfit::dataset

#pragma once

// One number from a precision/recall curve. Curves have one point a detection, by descending confidence;
// recall never falls. Empty curves and curves whose recall is NaN (no truths) give 0.

#include <span>

namespace maskfit::evaluate {

// Area under the monotone precision envelope, from recall 0 on (Pascal VOC 2010 and later).
double ap_all_point(std::span<const double> precision, std::span<const double> recall);

// Mean over recall 0, 0.1, ..., 1 of the best precision at that recall or more (spec 6.5, SAMPLE; Pascal VOC
// 2007).
double ap_sample(std::span<const double> precision, std::span<const double> recall);

// The reference's INTEGRATE (spec 6.5) with its quirk: nothing is counted before the first distinct recall,
// and the precision at the last one is left out. A perfect detector of n objects gets (n-1)/n.
double ap_integrate(std::span<const double> precision, std::span<const double> recall);

// Mean of the envelope at recall 0, 0.01, ..., 1 (COCO).
double ap_coco(std::span<const double> precision, std::span<const double> recall);

}  // namespace maskfit::evaluate

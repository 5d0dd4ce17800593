#pragma once

// The one thing maskfit wants from EXIF: which way up the picture is.
//
// EXIF is a TIFF structure: a byte-order mark ("II" or "MM"), the number 42, the offset of the first
// directory (IFD0); a directory is a count and 12-byte entries (tag, type, count, value). Orientation is tag
// 0x0112, type SHORT, count 1, in IFD0 (CIPA DC-008, section 4.6.4). A parser of these few fields cannot be
// led astray by the rest of the block, where real files hold most of their damage.

#include <string>
#include <string_view>

#include "image/image.h"

namespace maskfit::image {

// The orientation 1..8 of a TIFF block (with or without the leading "Exif\0\0" of a JPEG segment). 1 when
// there is none. Anything malformed counts as 1 and *note says what was found; *note is left alone otherwise.
int exif_orientation(std::string_view block, std::string* note);

// Turns a stored picture upright. Orientation names where the stored first row and first column belong on the
// upright picture; 1 = top, left (no change), 3 = rotated by 180 degrees, 6 = needs a quarter turn
// clockwise, 5..8 swap width and height. Needs 1 <= orientation <= 8.
Image turn_upright(const Image& stored, int orientation);
Size upright_size(Size stored, int orientation);

}  // namespace maskfit::image

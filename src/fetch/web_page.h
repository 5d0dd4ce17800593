#pragma once

// Web pages that come where a file was asked for: noticed, named, and, where a page only asks "download
// anyway?", answered.

#include <optional>
#include <string>
#include <string_view>

namespace maskfit::fetch {

// Bytes of an answer that this many suffice to judge.
inline constexpr std::size_t kSniffBytes = 512;

// Whether a body is HTML, by its first bytes. `content_type` only helps where they leave it open.
bool looks_like_web_page(std::string_view first_bytes, std::string_view content_type);

// The text of <title>, one line, at most 100 characters; "" when there is none.
std::string page_title(std::string_view html);

// The address behind the button of a page that asks for confirmation, as Google Drive does for files that it
// does not scan for viruses: a form named "download-form" (or whose action ends in "download") with hidden
// fields, or the older link with "confirm=". Only to where may_follow() allows.
std::optional<std::string> confirmed_address(std::string_view html, const std::string& page_url);

// What the page says, as a sentence for a person, where it is known: a Drive quota, a folder, a login.
struct PageReason {
  std::string what, hint;
};
PageReason page_reason(std::string_view html, const std::string& page_url);

}  // namespace maskfit::fetch

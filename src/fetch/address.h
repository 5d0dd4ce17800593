#pragma once

// Addresses of files on the web, and the names that files get from them.

#include <string>
#include <string_view>

namespace maskfit::fetch {

bool is_web_address(std::string_view text);  // http:// or https://

struct Address {
  std::string scheme, host, path,
      query;         // lower-case scheme and host; path begins with "/"; query without "?"
  std::string port;  // "" when the address names none
};
// Throws Error (kUsage) for what is no http or https address.
Address parse_address(const std::string& url);

// A link as a browser shows it, turned into one that gives the file: Google Drive's /file/d/ID/view,
// /open?id= and /uc?id=, Dropbox's ?dl=0, GitHub's /blob/. Others stay as they are. A Drive folder stays one:
// its page is then met and named.
std::string direct_address(const std::string& url);

// A link on a page at `base`, made whole ("/x", "y?z", "//host/x", "https://...").
std::string resolve_link(const std::string& base, const std::string& link);

// Whether a page of `page_host` may send a download on to `target`: the same host, or both are Google's.
bool may_follow(const std::string& page_url, const std::string& target_url);

// The last part of the path, decoded and made safe; "" when there is none that would do.
std::string file_name_of(const std::string& url);
// From a Content-Disposition header: filename* before filename, made safe; "" when there is none.
std::string file_name_of_disposition(const std::string& header);

// A name without folders, control characters, leading dots or more than 200 bytes; "" when nothing is left.
std::string safe_file_name(std::string_view name);

std::string percent_decode(std::string_view text);
std::string percent_encode(std::string_view text);  // everything but letters, digits and -._~

}  // namespace maskfit::fetch

#include "fetch/address.h"

#include <algorithm>
#include <cctype>
#include <regex>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::fetch {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool is_google(const std::string& host) {
  return host == "google.com" || host.ends_with(".google.com") || host.ends_with(".googleusercontent.com");
}

// The value of `name` in "a=b&c=d", decoded; "" when it is not there.
std::string query_value(const std::string& query, const std::string& name) {
  for (const std::string& pair : base::split(query, '&')) {
    if (pair.starts_with(name + "=")) return percent_decode(pair.substr(name.size() + 1));
  }
  return "";
}

std::string drive_file_id(const Address& address) {
  static const std::regex in_path("^/(?:a/[^/]+/)?file/d/([A-Za-z0-9_-]+)(?:/.*)?$");
  std::smatch match;
  if (std::regex_match(address.path, match, in_path)) return match[1];
  if (address.path == "/open" || address.path == "/uc") return query_value(address.query, "id");
  return "";
}

}  // namespace

bool is_web_address(std::string_view text) {
  const std::string lower = base::to_lower(text.substr(0, 8));
  return lower.starts_with("http://") || lower.starts_with("https://");
}

Address parse_address(const std::string& url) {
  static const std::regex form(
      "^([A-Za-z]+)://(?:[^/@?#]*@)?(\\[[^\\]/]+\\]|[^/:?#]+)(?::(\\d{1,5}))?([^?#]*)"
      "(?:\\?([^#]*))?(?:#.*)?$");
  std::smatch match;
  // std::regex recurses with the length of what it matches.
  if (url.size() > 8000 || !is_web_address(url) || !std::regex_match(url, match, form)) {
    throw base::Error(base::ExitCode::kUsage, "this is no address of a file on the web", url.substr(0, 200),
                      "an address begins with https:// or http:// and names a host");
  }
  Address address{base::to_lower(match[1].str()), base::to_lower(match[2].str()), match[4], match[5],
                  match[3]};
  if (address.path.empty()) address.path = "/";
  return address;
}

std::string direct_address(const std::string& url) {
  const Address address = parse_address(url);
  if (address.host == "drive.google.com" || address.host == "docs.google.com") {
    const std::string id = drive_file_id(address);
    if (!id.empty()) {
      return "https://drive.usercontent.google.com/download?id=" + percent_encode(id) + "&export=download";
    }
  }
  if ((address.host == "www.dropbox.com" || address.host == "dropbox.com") &&
      query_value(address.query, "dl") == "0") {
    return std::regex_replace(url, std::regex("([?&])dl=0"), "$1dl=1");
  }
  if (address.host == "github.com" && address.path.find("/blob/") != std::string::npos) {
    return std::regex_replace(url, std::regex("/blob/"), "/raw/", std::regex_constants::format_first_only);
  }
  return url;
}

std::string resolve_link(const std::string& base_url, const std::string& link) {
  if (is_web_address(link)) return link;
  const Address base = parse_address(base_url);
  const std::string root = base.scheme + "://" + base.host + (base.port.empty() ? "" : ":" + base.port);
  if (link.starts_with("//")) return base.scheme + ":" + link;
  if (link.starts_with("/")) return root + link;
  if (link.starts_with("?")) return root + base.path + link;
  return root + base.path.substr(0, base.path.rfind('/') + 1) + link;
}

bool may_follow(const std::string& page_url, const std::string& target_url) {
  if (!is_web_address(target_url)) return false;
  const Address page = parse_address(page_url), target = parse_address(target_url);
  if (page.scheme == "https" && target.scheme != "https") return false;
  return (page.host == target.host && page.port == target.port) ||
         (is_google(page.host) && is_google(target.host));
}

std::string file_name_of(const std::string& url) {
  const std::string path = parse_address(url).path;
  return safe_file_name(percent_decode(path.substr(path.rfind('/') + 1)));
}

std::string file_name_of_disposition(const std::string& header) {
  static const std::regex extended("filename\\*\\s*=\\s*(?:utf-8|UTF-8)'[^']*'([^;\\s]+)");
  static const std::regex quoted("filename\\s*=\\s*\"((?:[^\"\\\\]|\\\\.)*)\"");
  static const std::regex plain("filename\\s*=\\s*([^;\"\\s]+)");
  if (header.size() > 2000) return "";
  std::smatch match;
  if (std::regex_search(header, match, extended)) return safe_file_name(percent_decode(match[1].str()));
  if (std::regex_search(header, match, quoted) || std::regex_search(header, match, plain)) {
    return safe_file_name(match[1].str());
  }
  return "";
}

std::string safe_file_name(std::string_view name) {
  // What follows the last separator of either kind, so that "..\\..\\x" and "/etc/x" are "x".
  if (const auto slash = name.find_last_of("/\\"); slash != std::string_view::npos) {
    name.remove_prefix(slash + 1);
  }
  std::string safe;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) continue;
    safe += std::string_view("<>:\"|?*").find(c) != std::string_view::npos ? '_' : c;
  }
  safe = base::trim(safe);
  safe.erase(0, std::min(safe.size(), safe.find_first_not_of('.')));
  if (safe.size() > 200) {
    // The ending is kept: it tells what the file is.
    const auto dot = safe.rfind('.');
    const std::string ending = dot != std::string::npos && safe.size() - dot <= 16 ? safe.substr(dot) : "";
    std::size_t keep = 200 - ending.size();
    while (keep > 0 && (static_cast<unsigned char>(safe[keep]) & 0xc0u) == 0x80u) --keep;  // whole characters
    safe = safe.substr(0, keep) + ending;
  }
  return safe;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
        std::string_view("-._~").find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace maskfit::fetch

#include "fetch/address.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

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

// The id in "/file/d/ID/view", with or without "/a/DOMAIN" before it, or in "/open?id=ID" and "/uc?id=ID".
std::string drive_file_id(const Address& address) {
  if (address.path == "/open" || address.path == "/uc") return query_value(address.query, "id");
  std::vector<std::string> parts = base::split(address.path, '/');  // "" before the first
  if (parts.size() > 3 && parts[1] == "a") parts.erase(parts.begin() + 1, parts.begin() + 3);
  if (parts.size() < 4 || parts[1] != "file" || parts[2] != "d") return "";
  const bool is_id = std::all_of(parts[3].begin(), parts[3].end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
  return is_id ? parts[3] : "";
}

[[noreturn]] void refuse_address(const std::string& url) {
  throw base::Error(base::ExitCode::kUsage, "this is no address of a file on the web", url.substr(0, 200),
                    "an address begins with https:// or http:// and names a host");
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

// A header's parameters "a; b=c; d=\"e;f\"", names in lower case. What is quoted stays as it is inside.
std::vector<std::pair<std::string, std::string>> parameters_of(std::string_view header) {
  std::vector<std::pair<std::string, std::string>> parameters;
  while (!header.empty()) {
    const std::size_t name_end = header.find_first_of("=;");
    const std::string name = base::to_lower(base::trim(header.substr(0, name_end)));
    header.remove_prefix(std::min(header.size(), name_end));
    std::string value;
    if (header.starts_with('=')) {
      header.remove_prefix(std::min(header.size(), header.find_first_not_of(" \t", 1)));
      if (header.starts_with('"')) {
        std::size_t end = 1;
        while (end < header.size() && header[end] != '"') end += header[end] == '\\' ? 2 : 1;
        end = std::min(end, header.size());
        value = header.substr(1, end - 1);
        header.remove_prefix(end);
      } else {
        value = header.substr(0, header.find_first_of("; \t\r\n"));
      }
    }
    const std::size_t next = header.find(';');
    header.remove_prefix(next == std::string_view::npos ? header.size() : next + 1);
    parameters.emplace_back(name, value);
  }
  return parameters;
}

}  // namespace

bool is_web_address(std::string_view text) {
  const std::string lower = base::to_lower(text.substr(0, 8));
  return lower.starts_with("http://") || lower.starts_with("https://");
}

Address parse_address(const std::string& url) {
  if (url.size() > 8000 || !is_web_address(url)) refuse_address(url);
  const std::size_t colon = url.find(':');
  Address address;
  address.scheme = base::to_lower(url.substr(0, colon));
  std::string_view rest = std::string_view(url).substr(colon + 3);
  rest = rest.substr(0, rest.find('#'));
  const std::size_t host_end = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view host = rest.substr(0, host_end);
  rest.remove_prefix(host_end);
  // A name and password before '@' belong to nobody here; the last '@' ends them, as in browsers.
  if (const std::size_t at = host.rfind('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : 0;
  if (bracket == std::string_view::npos) refuse_address(url);
  if (const std::size_t port = host.find(':', bracket); port != std::string_view::npos) {
    address.port = host.substr(port + 1);
    host = host.substr(0, port);
    const bool digits =
        std::all_of(address.port.begin(), address.port.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (address.port.empty() || address.port.size() > 5 || !digits) refuse_address(url);
  }
  if (host.empty() || host == "[]" || (bracket > 0 && bracket + 1 != host.size())) refuse_address(url);
  address.host = base::to_lower(host);
  const std::size_t question = std::min(rest.find('?'), rest.size());
  address.path = rest.substr(0, question);
  if (question < rest.size()) address.query = rest.substr(question + 1);
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
    return replaced(replaced(url, "?dl=0", "?dl=1"), "&dl=0", "&dl=1");
  }
  if (address.host == "github.com" && address.path.find("/blob/") != std::string::npos) {
    return replaced(url, "/blob/", "/raw/");
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
  if (header.size() > 2000) return "";
  std::string plain;
  for (const auto& [name, value] : parameters_of(header)) {
    // filename*=utf-8'LANGUAGE'NAME with percent signs goes before filename.
    if (name == "filename*" && base::to_lower(value.substr(0, 6)) == "utf-8'") {
      const std::size_t second = value.find('\'', 6);
      if (second != std::string::npos && second + 1 < value.size())
        return safe_file_name(percent_decode(value.substr(second + 1)));
    }
    if (name == "filename" && plain.empty()) plain = value;
  }
  return safe_file_name(plain);
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

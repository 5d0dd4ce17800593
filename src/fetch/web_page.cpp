#include "fetch/web_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "fetch/address.h"

namespace maskfit::fetch {
namespace {

// The tags of a page in order: "<form id=x action=y>". Comments are left out.
std::vector<std::string_view> tags(std::string_view html) {
  std::vector<std::string_view> found;
  std::size_t at = 0;
  while ((at = html.find('<', at)) != std::string_view::npos) {
    if (html.substr(at, 4) == "<!--") {
      const auto end = html.find("-->", at);
      if (end == std::string_view::npos) break;
      at = end + 3;
      continue;
    }
    const auto end = html.find('>', at);
    if (end == std::string_view::npos) break;
    found.push_back(html.substr(at, end - at + 1));
    at = end + 1;
  }
  return found;
}

std::string unescape(std::string text) {
  for (const auto& [entity, character] : {std::pair{"&quot;", "\""},
                                          {"&#39;", "'"},
                                          {"&#x27;", "'"},
                                          {"&lt;", "<"},
                                          {"&gt;", ">"},
                                          {"&amp;", "&"}}) {
    for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; at += 1) {
      text.replace(at, std::string_view(entity).size(), character);
    }
  }
  return text;
}

bool is_tag(std::string_view tag, std::string_view name) {
  return base::to_lower(tag.substr(1, name.size())) == name && tag.size() > name.size() + 1 &&
         (tag[name.size() + 1] == ' ' || tag[name.size() + 1] == '>' || tag[name.size() + 1] == '\n' ||
          tag[name.size() + 1] == '\t' || tag[name.size() + 1] == '/');
}

// The value of an attribute, with or without quotes; "" when it is not there.
std::string attribute(std::string_view tag, std::string_view name) {
  const std::string lower = base::to_lower(tag);
  for (std::size_t at = 0; (at = lower.find(name, at)) != std::string::npos; at += name.size()) {
    const char before = at == 0 ? '<' : lower[at - 1];
    std::size_t value = at + name.size();
    if ((before != ' ' && before != '\n' && before != '\t' && before != '"' && before != '\'') ||
        value >= lower.size() || lower[value] != '=') {
      continue;
    }
    ++value;
    if (value < tag.size() && (tag[value] == '"' || tag[value] == '\'')) {
      const auto end = tag.find(tag[value], value + 1);
      if (end == std::string_view::npos) return "";
      return unescape(std::string(tag.substr(value + 1, end - value - 1)));
    }
    const auto end = tag.find_first_of(" \t\n>", value);
    return unescape(std::string(tag.substr(value, end - value)));
  }
  return "";
}

std::optional<std::string> form_address(std::string_view html, const std::string& page_url) {
  std::string action, query;
  bool inside = false;
  for (const std::string_view tag : tags(html)) {
    if (is_tag(tag, "form")) {
      const std::string target = attribute(tag, "action");
      inside =
          attribute(tag, "id") == "download-form" || target.substr(0, target.find('?')).ends_with("download");
      inside = inside && base::to_lower(attribute(tag, "method")) != "post";
      action = target;
      query.clear();
    } else if (is_tag(tag, "/form") && inside) {
      break;
    } else if (inside && is_tag(tag, "input") && base::to_lower(attribute(tag, "type")) == "hidden") {
      query += (query.empty() ? "" : "&") + percent_encode(attribute(tag, "name")) + "=" +
               percent_encode(attribute(tag, "value"));
    }
  }
  if (!inside || query.empty()) return std::nullopt;
  const std::string target = resolve_link(page_url, action.empty() ? "?" : action);
  return target + (target.find('?') == std::string::npos ? "?" : target.ends_with("?") ? "" : "&") + query;
}

std::optional<std::string> link_address(std::string_view html, const std::string& page_url) {
  for (const std::string_view tag : tags(html)) {
    if (!is_tag(tag, "a")) continue;
    const std::string target = attribute(tag, "href");
    if (target.find("confirm=") != std::string::npos && target.find("export=download") != std::string::npos) {
      return resolve_link(page_url, target);
    }
  }
  return std::nullopt;
}

bool holds(std::string_view html, std::string_view words) {
  return html.find(words) != std::string_view::npos;
}

}  // namespace

bool looks_like_web_page(std::string_view first_bytes, std::string_view content_type) {
  std::string_view text = first_bytes;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
  const std::string head = base::to_lower(text.substr(0, 64));
  for (const char* beginning : {"<!doctype html", "<html", "<head", "<body", "<script", "<title", "<meta"}) {
    if (head.starts_with(beginning)) return true;
  }
  return head.starts_with("<") && base::to_lower(content_type).find("text/html") != std::string::npos;
}

std::string page_title(std::string_view html) {
  const std::string lower = base::to_lower(html);
  const auto open = lower.find("<title");
  const auto begin = open == std::string::npos ? open : lower.find('>', open);
  const auto end = begin == std::string::npos ? begin : lower.find("</title", begin);
  if (end == std::string::npos) return "";
  std::string title;
  for (const std::string& word :
       base::split_words(unescape(std::string(html.substr(begin + 1, end - begin - 1))))) {
    title += (title.empty() ? "" : " ") + word;
  }
  if (title.size() > 100) {
    std::size_t keep = 100;
    while (keep > 0 && (static_cast<unsigned char>(title[keep]) & 0xc0u) == 0x80u) --keep;
    title = title.substr(0, keep) + "...";
  }
  return title;
}

std::optional<std::string> confirmed_address(std::string_view html, const std::string& page_url) {
  std::optional<std::string> target = form_address(html, page_url);
  if (!target) target = link_address(html, page_url);
  if (target && !may_follow(page_url, *target)) return std::nullopt;
  return target;
}

PageReason page_reason(std::string_view html, const std::string& page_url) {
  const std::string host = parse_address(page_url).host;
  const std::string title = page_title(html);
  if (holds(html, "Too many users have viewed or downloaded this file") || holds(html, "Quota exceeded")) {
    return {
        "Google Drive's limit for this file is used up: too many people fetched it lately",
        "try again after 24 hours, or open the link in a browser, signed in, copy the file to your own Drive "
        "and share the copy"};
  }
  if (host == "drive.google.com" && holds(page_url, "/folders/")) {
    return {"this is a Google Drive folder, not a file",
            "open it in a browser and either download it there or copy the link of each file in it"};
  }
  if (host == "accounts.google.com" || (host == "www.kaggle.com" && holds(page_url, "/account/login"))) {
    return {"the address asks for a login", "open it in a browser, sign in and download the file there"};
  }
  return {
      fmt::format("this is a web page{}, not an archive", title.empty() ? "" : " ('" + title + "')"),
      "open the address in a browser, copy the link behind its download button and give that; or download "
      "there and run `maskfit data organise` on the folder"};
}

}  // namespace maskfit::fetch

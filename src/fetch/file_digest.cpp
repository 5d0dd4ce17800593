#include "fetch/file_digest.h"

#include <openssl/evp.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::fetch {

std::string file_digest(const std::filesystem::path& path, const std::string& algorithm,
                        base::StopToken stop) {
  const EVP_MD* method = EVP_get_digestbyname(algorithm.c_str());
  MASKFIT_CHECK(method != nullptr, "algorithm={}", algorithm);
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  MASKFIT_CHECK(context != nullptr && EVP_DigestInit_ex(context.get(), method, nullptr) == 1, "algorithm={}",
                algorithm);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw base::Error(base::ExitCode::kFailed, fmt::format("cannot read the file: {}", std::strerror(errno)),
                      path.string());
  }
  std::vector<char> block(1 << 20);
  while (file) {
    stop.throw_if_requested();
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    EVP_DigestUpdate(context.get(), block.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad())
    throw base::Error(base::ExitCode::kFailed, "cannot read the file to its end", path.string());
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(context.get(), bytes, &size);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", bytes[i]);
  return hex;
}

Digest parse_digest(const std::string& text) {
  std::string lower = base::to_lower(base::trim(text));
  std::string named;
  if (const auto colon = lower.find(':'); colon != std::string::npos) {
    named = lower.substr(0, colon);
    lower = lower.substr(colon + 1);
  }
  const bool hex = lower.find_first_not_of("0123456789abcdef") == std::string::npos;
  const std::string algorithm = lower.size() == 64   ? "sha256"
                                : lower.size() == 40 ? "sha1"
                                : lower.size() == 32 ? "md5"
                                                     : "";
  if (!hex || algorithm.empty() || (!named.empty() && named != algorithm)) {
    throw base::Error(base::ExitCode::kUsage, fmt::format("'{}' is no digest", text), "",
                      "give the 64 hexadecimal digits of a SHA-256 (or 40 of SHA-1, 32 of MD5)");
  }
  return {algorithm, lower};
}

}  // namespace maskfit::fetch

#include "unit/etcd/captured.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/check.hpp"
#include "stores/document_splitter.hpp"

namespace tenure::stores::etcd {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  TENURE_CHECK(in.is_open());
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::string captured(const std::string& release, const std::string& name) {
  return read_file(std::filesystem::path(TENURE_CAPTURED) / release / (name + ".json"));
}

std::vector<std::string> captured_documents(const std::string& release, const std::string& name) {
  auto documents = document_splitter().feed(captured(release, name));
  TENURE_CHECK(documents.has_value());
  return *std::move(documents);
}

std::vector<std::pair<std::string, std::string>> all_captured() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const char* release : captured_releases) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(TENURE_CAPTURED) / release)) {
      all.emplace_back(release + ("/" + entry.path().stem().string()), read_file(entry.path()));
    }
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace tenure::stores::etcd

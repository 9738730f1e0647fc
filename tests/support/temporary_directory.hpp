#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tenure::tests {

/// A directory of its own for each test, removed with all that is in it at the end.
class temporary_directory {
 public:
  temporary_directory() {
    std::string name = std::filesystem::temp_directory_path() / "tenure-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~temporary_directory() {
    // What was killed a moment ago may still be writing there.
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;

  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tenure::tests

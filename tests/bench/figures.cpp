#include "figures.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace tenure::bench {

long kilobytes(pid_t pid, const char* file, const std::string& key) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/" + file);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, key.size(), key) == 0) return std::atol(line.c_str() + key.size());
  }
  return -1;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void print_row(const char* what, std::vector<double> values, const char* unit) {
  std::ranges::sort(values);
  std::printf("%-58s median %8.3f  min %8.3f  max %8.3f %s  (n=%zu)\n", what, median(values),
              values.front(), values.back(), unit, values.size());
}

const char* verdict(bool met) {
  return met ? "met" : "MISSED";
}

}  // namespace tenure::bench

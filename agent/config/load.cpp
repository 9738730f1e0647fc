#include "config/load.hpp"

#include "config/raw_settings.hpp"

namespace tenure::config {

std::expected<configuration, std::vector<problem>> load(const inputs& in) {
  raw_settings all;
  if (in.file && in.file->has_value()) {
    take_file(**in.file, all);
  } else if (in.file) {
    all.reject(in.file->error());
    all.file_usable = false;
  }
  take_environment(in.environment, all);
  take_flags(in.flags, all);
  take_variables_of_other_tools(in.environment, all);
  take_kubeconfig(in, all);
  if (in.in_pod) take_pod(*in.in_pod, all);

  auto result = validate(std::move(all), in);
  if (!result && result.error().size() > max_problems) {
    auto& problems = result.error();
    const std::size_t rest = problems.size() - max_problems;
    problems.resize(max_problems);
    problems.push_back(
        {"", "there are " + std::to_string(rest) + " more problems", "correct these first"});
  }
  return result;
}

}  // namespace tenure::config

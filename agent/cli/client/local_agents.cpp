#include "cli/client/local_agents.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/boot_time.hpp"
#include "base/list_text.hpp"
#include "base/runtime_directory.hpp"
#include "base/trusted_open.hpp"
#include "cli/text/print.hpp"
#include "cli/text/variable.hpp"
#include "core/campaign_obstacle.hpp"
#include "http/client/http_network.hpp"
#include "http/server/unix_socket.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {
namespace {

ask_failure bad_usage(const std::string& text) {
  return failure(runtime::exit_bad_settings, "bad_usage", text);
}

/// "a at unix:/run/tenure/12.sock, b at ..."
std::string listed(const std::vector<const candidate*>& some) {
  return base::listed(some, [](const candidate* one) {
    return one->says.identity + " at " + settings::text(one->agent);
  });
}

/// More is better: a holder knows that it holds by its own lease.
int knowledge_of(const candidate& one) {
  return one.says.is_self ? 2 : one.says.holder_known ? 1 : 0;
}

bool has_seen_versions_go_back(const candidate& one) {
  return one.says.not_campaigning &&
         one.says.not_campaigning->reason == core::name(core::campaign_obstacle::old_version);
}

std::vector<candidate> candidates_of(const std::vector<settings::endpoint>& agents) {
  std::vector<candidate> out;
  const auto answers =
      ask_all(agents, {.method = "GET", .target = path_of(std::nullopt)}, local_reply_limit);
  for (std::size_t i = 0; i < agents.size(); ++i) {
    const auto elections = answers[i] ? wire::read_elections(*answers[i]) : std::nullopt;
    if (!elections) continue;
    for (const wire::election_report& one : *elections)
      out.push_back({.agent = agents[i], .says = one});
  }
  return out;
}

std::expected<std::string, ask_failure> only_election(const settings::endpoint& agent) {
  const auto list = ask_agent(agent, {.method = "GET", .target = path_of(std::nullopt)});
  if (!list) return std::unexpected(list.error());
  auto all = wire::read_elections(*list);
  if (!all) return std::unexpected(not_an_agent(agent));
  if (all->size() == 1) return std::move(all->front().election);
  return std::unexpected(which_election(agent, *all));
}

enum class levels : std::uint8_t { one, two };

/// True for a directory that its user alone can write to.
bool has_one_user(const std::string& directory) {
  return base::open_trusted(AT_FDCWD, directory.c_str(), O_RDONLY,
                            {.type = S_IFDIR, .any_owner = true})
      .has_value();
}

/// Skips directories in which another user could have put a socket. A directory inside of ours may
/// belong to any user: we have put it there, as systemd does for a unit with User=.
void add_agents_in(const std::string& directory, levels deep,
                   std::vector<settings::endpoint>& out) {
  if (deep == levels::two ? !base::open_own_directory(directory) : !has_one_user(directory)) return;
  std::error_code failed;
  for (std::filesystem::directory_iterator one(directory, failed), end; !failed && one != end;
       one.increment(failed)) {
    const std::string path = one->path().string();
    std::error_code unknown;
    if (deep == levels::two && one->is_directory(unknown)) add_agents_in(path, levels::one, out);
    if (one->path().extension() != ".sock" || !http::is_served(path)) continue;
    if (auto agent = settings::parse_local_endpoint("unix:" + path, 0))
      out.push_back(std::move(*agent));
  }
}

}  // namespace

std::expected<std::vector<settings::endpoint>, std::string> local_agents() {
  const auto given = variable("TENURE_RUNTIME_DIR");
  std::vector<settings::endpoint> out;
  if (given == "off") return out;
  if (given) {
    if (const auto opened = base::open_own_directory(*given); !opened) {
      return std::unexpected("the directory of TENURE_RUNTIME_DIR cannot be used: " +
                             opened.error().text);
    }
    add_agents_in(*given, levels::two, out);
  } else {
    const std::string usual = base::default_runtime_directory();
    if (!usual.empty()) add_agents_in(usual, levels::two, out);
    if (usual != base::system_runtime_directory) {
      add_agents_in(base::system_runtime_directory, levels::two, out);
    }
  }
  std::ranges::sort(out, {}, &settings::endpoint::socket_path);
  return out;
}

std::expected<std::vector<settings::endpoint>, std::string> agents_to_ask(
    const std::optional<std::string>& given, const std::string& verb) {
  std::string trouble;
  if (!given && !variable("TENURE_API")) {
    auto local = local_agents();
    if (local && !local->empty()) return local;
    if (!local) trouble = std::move(local.error());
  }
  auto one = agent_address(given);
  if (!one) return std::unexpected(std::move(one.error()));
  if (!trouble.empty() && !verb.empty()) {
    print_failure(verb, trouble +
                            "; name the directory in which the agents leave their sockets, or "
                            "unset the variable; asking " +
                            settings::text(*one) + " now");
  }
  return std::vector{std::move(*one)};
}

std::vector<agent_answer> ask_all(const std::vector<settings::endpoint>& agents,
                                  const http::client_request& what, core::duration patience) {
  boost::asio::io_context loop;
  std::vector<std::unique_ptr<http::http_client>> clients;
  std::vector<std::optional<agent_answer>> answers(agents.size());
  std::size_t open = agents.size();
  for (std::size_t i = 0; i < agents.size(); ++i) {
    clients.push_back(http::make_http_client(loop.get_executor(), agents[i], {}, agent_limits));
    clients.back()->send(what, base::boot_now() + patience, [&, i](auto reply) {
      answers[i] = judged(agents[i], reply);
      --open;
      clients[i]->close();
    });
  }
  while (open > 0) loop.run_one();
  std::vector<agent_answer> out;
  for (auto& one : answers) out.push_back(std::move(*one));
  return out;
}

std::expected<election_address, ask_failure> chosen_of(const std::vector<candidate>& all,
                                                       const std::optional<std::string>& election,
                                                       meant which, const std::string& member) {
  std::vector<std::string> names;
  for (const candidate& one : all) names.push_back(one.says.election);
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  if (!election && names.size() != 1) {
    std::string text = "which election? the agents of this machine have: ";
    for (const std::string& one : names) text += (one == names.front() ? "" : ", ") + one;
    return std::unexpected(bad_usage(text + "; name one of them"));
  }
  const std::string name = election.value_or(names.empty() ? "" : names.front());
  std::vector<const candidate*> takes_part;
  for (const candidate& one : all) {
    if (one.says.election == name) takes_part.push_back(&one);
  }
  if (takes_part.empty()) {
    return std::unexpected(bad_usage("no agent of this machine has the election \"" + name +
                                     "\"; give --api for one of another machine"));
  }
  const auto best = std::ranges::max_element(takes_part, {}, [&](const candidate* one) {
    const bool is_meant =
        which == meant::went_back ? has_seen_versions_go_back(*one) : one->says.identity == member;
    return (is_meant ? 3 : 0) + knowledge_of(*one);
  });
  if (which == meant::self && takes_part.size() > 1 && (*best)->says.identity != member) {
    return std::unexpected(bad_usage("which agent? \"" + name + "\" is known to " +
                                     listed(takes_part) + "; give --api for one of them"));
  }
  return election_address{.agent = (*best)->agent, .election = name};
}

std::expected<agent_choice, ask_failure> agent_of(const invocation& what,
                                                  std::optional<std::string> election, meant which,
                                                  const std::string& member) {
  const auto agents = agents_to_ask(what.value("--api"), what.verb);
  if (!agents) return std::unexpected(bad_usage(agents.error()));
  const std::vector<candidate> all =
      agents->size() > 1 ? candidates_of(*agents) : std::vector<candidate>();
  if (all.empty()) return agent_choice{.agent = agents->front(), .election = std::move(election)};
  auto chosen = chosen_of(all, election, which, member);
  if (!chosen) return std::unexpected(std::move(chosen.error()));
  return agent_choice{.agent = std::move(chosen->agent), .election = std::move(chosen->election)};
}

std::expected<settings::endpoint, ask_failure> one_agent_of(const invocation& what) {
  const auto agents = agents_to_ask(what.value("--api"), what.verb);
  if (!agents) return std::unexpected(bad_usage(agents.error()));
  if (agents->size() == 1) return agents->front();
  const std::vector<candidate> all = candidates_of(*agents);
  std::string some;
  for (const settings::endpoint& one : *agents) {
    const auto said = std::ranges::find_if(
        all, [&one](const candidate& by) { return by.agent.socket_path == one.socket_path; });
    some += (some.empty() ? "" : ", ") + (said == all.end() ? "one" : said->says.identity) +
            " at " + settings::text(one);
  }
  return std::unexpected(
      bad_usage("which agent? this machine has: " + some + "; give --api for one of them"));
}

std::expected<election_address, ask_failure> election_address_of(const invocation& what,
                                                                 meant which,
                                                                 const std::string& member) {
  auto choice = agent_of(what, named_election(what), which, member);
  if (!choice) return std::unexpected(std::move(choice.error()));
  if (choice->election) {
    return election_address{.agent = std::move(choice->agent),
                            .election = std::move(*choice->election)};
  }
  auto only = only_election(choice->agent);
  if (!only) return std::unexpected(std::move(only.error()));
  return election_address{.agent = std::move(choice->agent), .election = std::move(*only)};
}

}  // namespace tenure::cli

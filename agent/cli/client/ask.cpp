#include "cli/client/ask.hpp"

#include <boost/asio/io_context.hpp>
#include <utility>

#include "base/boot_time.hpp"
#include "base/percent_text.hpp"
#include "cli/text/print.hpp"
#include "cli/text/variable.hpp"
#include "http/client/http_network.hpp"
#include "runtime/exit_status.hpp"
#include "wire/problem.hpp"

namespace tenure::cli {
namespace {

constexpr const char* default_api = "http://127.0.0.1:4040";
constexpr std::uint16_t default_port = 4040;
/// The most names of a list in an error.
constexpr std::size_t most_names = 8;

}  // namespace

ask_failure failure(int status, const char* code, const std::string& text) {
  return {.status = status, .text = text, .json = wire::write(wire::problem{code, text})};
}

std::expected<http::client_reply, http::client_error> ask(const settings::endpoint& server,
                                                          http::client_request what,
                                                          core::duration patience) {
  boost::asio::io_context loop;
  const auto client = http::make_http_client(loop.get_executor(), server, {}, agent_limits);
  std::optional<std::expected<http::client_reply, http::client_error>> answer;
  client->send(std::move(what), base::boot_now() + patience, [&](auto reply) {
    answer.emplace(std::move(reply));
    client->close();
  });
  while (!answer) loop.run_one();
  return std::move(*answer);
}

ask_failure not_an_agent(const settings::endpoint& agent) {
  return failure(runtime::exit_cannot_tell, "not_an_agent",
                 "the reply of " + settings::text(agent) +
                     " is not that of an agent; is --api the address of one?");
}

agent_answer judged(const settings::endpoint& agent,
                    const std::expected<http::client_reply, http::client_error>& reply) {
  if (!reply) {
    ask_failure out =
        failure(runtime::exit_no_agent, "no_reply", "no agent has answered: " + reply.error().text);
    out.silence = reply.error().text;
    return std::unexpected(std::move(out));
  }
  const bool good = reply->status >= 200 && reply->status < 300;
  if (good && wire::is_object(reply->body)) return reply->body;
  const auto error = good ? std::nullopt : wire::read_problem(reply->body);
  if (error && !error->message.empty()) {
    const bool ours_to_mend = reply->status >= 400 && reply->status < 500;
    return std::unexpected(
        ask_failure{.status = ours_to_mend ? runtime::exit_bad_settings : runtime::exit_cannot_tell,
                    .text = wire::text(*error),
                    .json = reply->body});
  }
  return std::unexpected(not_an_agent(agent));
}

agent_answer ask_agent(const settings::endpoint& agent, http::client_request what) {
  return judged(agent, ask(agent, std::move(what), reply_limit));
}

std::expected<settings::endpoint, std::string> agent_address(
    const std::optional<std::string>& given) {
  const auto own = given ? std::nullopt : variable("TENURE_API");
  auto out =
      settings::parse_local_endpoint(given.value_or(own.value_or(default_api)), default_port);
  if (out) return std::move(*out);
  return std::unexpected((own ? "TENURE_API: " : "--api: ") + settings::text(out.error()));
}

std::optional<std::string> named_election(const invocation& what) {
  auto given = what.value("ELECTION");
  return given ? given : own_election_name();
}

std::optional<std::string> own_election_name() {
  auto own = variable("TENURE_ELECTION");
  return own && !own->contains(',') ? own : std::nullopt;
}

std::string path_of(const std::optional<std::string>& election) {
  const std::string list = "/v1/elections";
  return election ? list + "/" + base::percent_encoded(*election) : list;
}

ask_failure which_election(const settings::endpoint& agent,
                           const std::vector<wire::election_report>& of) {
  std::string listed = of.empty() ? "none" : "";
  for (std::size_t i = 0; i < of.size() && i < most_names; ++i) {
    listed += (i == 0 ? "" : ", ") + of[i].election;
  }
  if (of.size() > most_names) listed += ", ...";
  return failure(runtime::exit_bad_settings, "no_election",
                 "which election? the agent at " + settings::text(agent) + " has: " + listed +
                     "; name one of its elections");
}

int report_failure(const invocation& what, const ask_failure& why) {
  print_failure(what.verb, why.text);
  if (what.output == output_form::json) print_json(why.json);
  return why.status;
}

}  // namespace tenure::cli

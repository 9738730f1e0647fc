#include "scripted_agent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "http/server/answer.hpp"

namespace tenure::tests {

scripted_agent::scripted_agent(kind what) : kind_(what) {
  const auto handler = [this](const http::request& asked, http::responder respond) {
    answer(asked, std::move(respond));
  };
  const auto bound = server_.listen_on({"127.0.0.1", 0}, handler);
  EXPECT_TRUE(bound);
  if (bound) where_ = *bound;
  EXPECT_TRUE(server_.listen_on_path((directory_ / "agent.sock").string(), handler));
  server_.attend_with([] { return http::attention{.news = true}; });
  EXPECT_TRUE(server_.start());
}

scripted_agent::~scripted_agent() {
  server_.shutdown();
}

void scripted_agent::becomes(const std::string& election) {
  {
    const std::lock_guard lock(mutex_);
    election_ = election;
    ++index_;
  }
  server_.news();
}

void scripted_agent::says(std::string body) {
  const std::lock_guard lock(mutex_);
  body_ = std::move(body);
}

void scripted_agent::accepts(std::string status_and_body) {
  const std::lock_guard lock(mutex_);
  order_.status = static_cast<unsigned>(std::stoul(status_and_body));
  order_.body = status_and_body.substr(status_and_body.find(' ') + 1);
}

std::string scripted_agent::api() const {
  return "http://127.0.0.1:" + std::to_string(where_.port);
}

std::string scripted_agent::unix_api() const {
  return "unix:" + (directory_ / "agent.sock").string();
}

std::vector<std::string> scripted_agent::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

std::size_t scripted_agent::asked_for(const std::string& words) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(
      asked_, [&words](const std::string& one) { return one.contains(words); }));
}

http::response scripted_agent::current_locked() const {
  if (!body_.empty()) return {.body = body_ + "\n"};
  std::string body = R"({"election":"db","identity":"a",)" + election_;
  if (kind_ != kind::does_not) body += ",\"index\":" + std::to_string(index_);
  return {.body = body + "}\n"};
}

void scripted_agent::answer(const http::request& what, http::responder respond) {
  const std::string* const index = what.query_value("index");
  std::string line = what.method + " " + what.target.path;
  for (const http::parameter& p : what.target.query) line += " " + p.name + "=" + p.value;
  line += " host=" + what.host.value_or("");
  if (what.authorization) line += " auth=" + *what.authorization;
  if (!what.body.empty()) line += " " + what.body;
  const std::lock_guard lock(mutex_);
  asked_.push_back(line);
  if (what.method != "GET") return respond(order_);
  const std::string known = index == nullptr ? "" : *index;
  if (kind_ != kind::counts || known != std::to_string(index_)) return respond(current_locked());
  respond(http::held_answer{
      .ready = [this, known](http::occasion why) -> std::optional<http::response> {
        const std::lock_guard again(mutex_);
        if (why == http::occasion::news && known == std::to_string(index_)) return std::nullopt;
        return current_locked();
      },
      .limit = std::chrono::seconds(30)});
}

}  // namespace tenure::tests

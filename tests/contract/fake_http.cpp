#include "fake_http.hpp"

#include <ostream>
#include <utility>

namespace tenure::tests {
namespace {

constexpr const char* json_head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

/// Sends what `piece` is, until the client has had enough.
void send_for_ever(peer& to, const std::string& piece) {
  while (to.send(piece)) {
  }
}

}  // namespace

fake_http::fake_http(answer usual, namer name_of)
    : usual_(std::move(usual)),
      name_of_(std::move(name_of)),
      server_([this](peer& with, int) { serve(with); }) {}

void fake_http::on(const std::string& name, answer how) {
  const std::lock_guard lock(mutex_);
  told_[name] = std::move(how);
}

void fake_http::on(const std::string& name, const std::string& text) {
  on(name, body(text));
}

std::string fake_http::endpoint() const {
  return settings::text(server_.where());
}

int fake_http::count(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = count_.find(name);
  return found == count_.end() ? 0 : found->second;
}

void fake_http::serve(peer& with) {
  for (std::string request = with.request(); !request.empty(); request = with.request()) {
    const std::string name = name_of_(request);
    answer how;
    {
      const std::lock_guard lock(mutex_);
      ++count_[name];
      const auto found = told_.find(name);
      if (found != told_.end()) how = found->second;
    }
    (how ? how : usual_)(with, request);
  }
}

std::string target_of(const std::string& request) {
  const auto from = request.find(' ') + 1;
  return request.substr(from, request.find(' ', from) - from);
}

std::string path_of(const std::string& request) {
  const std::string target = target_of(request);
  return target.substr(0, target.find('?'));
}

std::string method_of(const std::string& request) {
  return request.substr(0, request.find(' '));
}

std::string body_in(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

void PrintTo(const nonsense& one, std::ostream* out) {
  *out << one.name;
}

fake_http::answer body(const std::string& text) {
  return [text](peer& to, const std::string&) { to.reply(text); };
}

fake_http::answer status(const std::string& line, const std::string& text) {
  return [line, text](peer& to, const std::string&) {
    to.send("HTTP/1.1 " + line + "\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" +
            text);
  };
}

std::vector<nonsense> nonsense_of_any_server() {
  return {
      {"Empty", body("")},
      {"Text", body("hello")},
      {"Html", body("<!DOCTYPE html><html><body>Please sign in</body></html>")},
      {"Null", body("null")},
      {"List", body("[]")},
      {"NoFields", body("{}")},
      {"NestedDeeply", body(std::string(100'000, '[') + std::string(100'000, ']'))},
      {"ServerError", status("503 Down", "down")},
      {"Closed", [](peer& to, const std::string&) { to.close(); }},
      {"Reset", [](peer& to, const std::string&) { to.reset(); }},
      {"Silence", [](peer& to, const std::string&) { to.closed(); }},
      {"BodyCutShort",
       [](peer& to, const std::string&) {
         to.send(std::string(json_head) + "Content-Length: 100\r\n\r\n{");
         to.close();
       }},
      {"BodyTooLong",
       [](peer& to, const std::string&) {
         to.send(std::string(json_head) + "Content-Length: 99999999999\r\n\r\n");
         send_for_ever(to, std::string(65536, ' '));
       }},
      {"ChunksWithoutEnd",
       [](peer& to, const std::string&) {
         to.send(std::string(json_head) + "Transfer-Encoding: chunked\r\n\r\n");
         send_for_ever(to, "1000\r\n" + std::string(4096, '{') + "\r\n");
       }},
      {"HeadersWithoutEnd",
       [](peer& to, const std::string&) {
         to.send(json_head);
         send_for_ever(to, "X: " + std::string(1000, 'x') + "\r\n");
       }},
      {"InterimRepliesWithoutEnd",
       [](peer& to, const std::string&) { send_for_ever(to, "HTTP/1.1 100 Continue\r\n\r\n"); }},
      {"BlanksByDrops",
       [](peer& to, const std::string&) {
         to.send(std::string(json_head) + "Content-Length: 1000000\r\n\r\n");
         while (to.send(" ") && !to.closed_within(std::chrono::milliseconds(20))) {
         }
       }},
  };
}

}  // namespace tenure::tests

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "base/duration_text.hpp"
#include "base/list_text.hpp"
#include "base/random.hpp"
#include "base/time_text.hpp"
#include "base/wall_time.hpp"
#include "http/client/http_network.hpp"
#include "runtime/doctor_examination.hpp"
#include "settings/endpoint.hpp"
#include "settings/store_kind.hpp"
#include "stores/kubernetes/start_check.hpp"

namespace tenure::runtime {
namespace {

/// With more elections, those that are in order are counted.
constexpr std::size_t most_elections = 8;
constexpr std::size_t reads_at_once = 64;
constexpr std::int64_t half_second_ms = 500;
/// Another agent with our identity would keep the one that runs from campaigning.
constexpr const char* own_name = "tenure-doctor";

std::string spoken(core::duration what) {
  if (what < std::chrono::milliseconds(1)) return "less than 1 ms";
  return std::string(base::spoken(what).view());
}

class store_examination {
 public:
  explicit store_examination(examination& with)
      : with_(with), kind_(settings::find_store_kind(with.of.store)) {}

  void run() {
    look_at_store();
    look_at_endpoints();
  }

 private:
  struct readings {
    std::vector<stores::read_outcome> all{};
    core::duration answer{};  ///< how long the first one took
  };

  void look_at_store();
  [[nodiscard]] bool has_file();
  [[nodiscard]] readings read_all(stores::store& in);
  [[nodiscard]] std::string why_not_watched(stores::store& in);
  void look_at_elections(stores::store& in);
  void note_store(const stores::description& what, core::duration answer);
  void look_at_endpoints();
  [[nodiscard]] std::string place() const;

  examination& with_;
  const settings::store_kind* kind_;
  bool store_answers_ = false;
};

/// "https://10.0.0.1:443, https://10.0.0.2:443"
std::string store_examination::place() const {
  if (kind_->is_file()) return base::listed(with_.of.endpoints);
  return base::listed(with_.of.endpoints, [this](const std::string& url) {
    const auto one = settings::parse_local_endpoint(url, kind_->default_port);
    return one ? settings::text(*one) : settings::quote_endpoint(url);
  });
}

/// A store that is opened makes its file.
bool store_examination::has_file() {
  const std::filesystem::path file = with_.of.endpoints.front();
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(file, failed);
  if (!failed && bytes > 0) return true;
  if (failed && failed != std::errc::no_such_file_or_directory) return true;
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (std::filesystem::is_directory(folder, failed)) {
    with_.add("store", verdict::skip, place() + " is not there yet: the first agent makes it");
  } else {
    with_.add("store", verdict::bad,
              place() + " cannot be made: there is no directory " + folder.string(),
              "make it, or check the path");
  }
  return false;
}

void store_examination::look_at_store() {
  if (kind_->is_file() && !has_file()) return;
  stores::setup setup{.kind = with_.of.store,
                      .endpoints = with_.of.endpoints,
                      .identity = own_name,
                      .session = base::random_hex(16),
                      .ttl = with_.of.timing.ttl,
                      .elections = with_.of.elections,
                      .announce = false,
                      .secure = with_.of.secure,
                      .name_space = with_.of.name_space,
                      .consul = with_.of.consul};
  setup.notes = [this](const stores::notice& what) {
    if (what.is_trouble) with_.add("store", verdict::bad, what.text);
  };
  auto made = stores::make_store(with_.loop, std::move(setup));
  if (!made) return with_.add("store", verdict::bad, std::move(made.error().text));
  using opening = std::expected<stores::description, stores::open_error>;
  const auto opened = with_.outcome_of<opening>([&](auto done) { (*made)->open(std::move(done)); });
  if (opened) {
    look_at_elections(**made);
  } else {
    with_.add("store", verdict::bad, opened.error().text);
  }
  (*made)->close();
}

/// As many at a time as a client sends. Ends with the first part in which one fails.
store_examination::readings store_examination::read_all(stores::store& in) {
  readings out;
  const std::size_t count = with_.of.elections.size();
  bool fails = false;
  while (out.all.size() < count && !fails) {
    const std::size_t begin = out.all.size();
    std::size_t left = std::min(reads_at_once, count - begin);
    out.all.resize(begin + left, stores::unknown());
    const core::time_point sent_at = with_.loop.now();
    for (std::size_t i = begin; i < out.all.size(); ++i) {
      in.read(core::election_index{static_cast<std::uint32_t>(i)}, sent_at + doctor_patience,
              [&, i](stores::read_outcome what) {
                if (out.answer == core::duration::zero()) out.answer = with_.loop.now() - sent_at;
                fails = fails || std::holds_alternative<stores::unknown>(what);
                out.all[i] = std::move(what);
                --left;
              });
    }
    with_.turn_until([&left] { return left == 0; });
  }
  return out;
}

/// Why the store's watch shows nothing; empty if it does. A member does not campaign before its
/// watch has shown the election, so one that can be read alone is of no use.
std::string store_examination::why_not_watched(stores::store& in) {
  struct sighting {
    bool is_shown = false;
    std::string why_not = "it has shown nothing within " + spoken(doctor_patience);
  };
  // Shared, as the watch stays open.
  const auto seen = std::make_shared<sighting>();
  in.watch(core::election_index{0},
           [seen](const std::variant<core::observation, stores::unknown>& what) {
             if (const auto* const broken = std::get_if<stores::unknown>(&what)) {
               seen->why_not = broken->why;
             } else {
               seen->is_shown = true;
             }
           });
  bool is_over = false;
  base::timer patience(with_.loop);
  patience.after(doctor_patience, [&] { is_over = true; });
  with_.turn_until([&] { return seen->is_shown || is_over; });
  return seen->is_shown ? std::string() : seen->why_not;
}

void store_examination::look_at_elections(stores::store& in) {
  const std::size_t count = with_.of.elections.size();
  const readings seen = read_all(in);
  for (std::size_t i = 0; i < seen.all.size(); ++i) {
    const auto* const failure = std::get_if<stores::unknown>(&seen.all[i]);
    if (failure == nullptr) continue;
    return with_.add("store", verdict::bad,
                     std::string(kind_->title) + " at " + place() + " does not show the election " +
                         with_.of.elections[i].name + ": " + failure->why);
  }
  note_store(in.describe(), seen.answer);
  if (std::string why = why_not_watched(in); !why.empty()) {
    with_.add("store", verdict::bad,
              std::string(kind_->title) + " at " + place() +
                  " can be read and not watched, so no member would campaign: " + why,
              "let the members reach the servers directly, or through a proxy that passes on each "
              "part of a request and of a reply at once");
  }
  std::size_t held = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& one = std::get<core::observation>(seen.all[i]);
    held += one.holders.empty() ? 0 : 1;
    auto all = election_findings(with_.of.elections[i], one);
    if (count > most_elections) {
      std::erase_if(all, [](const finding& f) { return f.result == verdict::ok; });
    }
    with_.add(std::move(all));
  }
  if (count > most_elections) {
    with_.add("holder", verdict::ok,
              std::to_string(held) + " of " + std::to_string(count) + " elections have a holder");
  }
  with_.out.push_back(budget_finding(with_.of, in.describe()));
}

void store_examination::note_store(const stores::description& what, core::duration answer) {
  store_answers_ = true;
  const std::string version = what.server_version.empty() ? "" : " " + what.server_version;
  with_.add(
      "store", verdict::ok,
      std::string(kind_->title) + version + " at " + place() + ", answers in " + spoken(answer));
  for (const std::string& one : what.warnings) {
    // `look_at_rights` asks for each of them.
    if (!one.starts_with(stores::kubernetes::lacks_verbs)) with_.add("store", verdict::warn, one);
  }
}

/// The store asks one server, and the next one only if that does not answer. Every server says what
/// time it is, also if it does not let us in.
void store_examination::look_at_endpoints() {
  if (kind_->is_file()) {
    return with_.add("clocks", verdict::skip,
                     "all members of a file go by the clock of this machine");
  }
  struct asked {
    std::unique_ptr<http::http_client> whom;
    std::optional<std::expected<http::client_reply, http::client_error>> reply{};
    core::time_point at{};
  };
  std::vector<asked> all;
  for (const std::string& url : with_.of.endpoints) {
    auto to = settings::parse_local_endpoint(url, kind_->default_port);
    if (!to) continue;  // the store has said so
    all.push_back({.whom = http::make_http_client(with_.io.get_executor(), std::move(*to),
                                                  http::tls_for(with_.of.secure))});
  }
  const core::time_point sent_at = with_.loop.now();
  for (asked& one : all) {
    one.whom->send({.method = "GET", .target = "/version"}, sent_at + doctor_patience,
                   [&](auto what) {
                     one.at = with_.loop.now();
                     one.reply.emplace(std::move(what));
                   });
  }
  with_.turn_until(
      [&all] { return std::ranges::all_of(all, [](const asked& a) { return !!a.reply; }); });

  bool has_date = false;
  for (const asked& one : all) {
    const std::string server = settings::text(one.whom->server());
    if (!*one.reply) {
      if (store_answers_) {
        with_.add("endpoint", verdict::warn,
                  server + " does not answer, others do: " + one.reply->error().text,
                  "start it, or remove it from the endpoints");
      }
      continue;
    }
    const std::string* const text = (*one.reply)->value("Date");
    const auto date = text == nullptr ? std::nullopt : base::read_http_date(*text);
    if (!date) continue;
    has_date = true;
    // A Date has whole seconds, and is of about the middle of the request.
    const core::duration round_trip = one.at - sent_at;
    const auto since =
        std::chrono::round<std::chrono::milliseconds>(with_.loop.now() - one.at + round_trip / 2);
    const std::chrono::milliseconds ours(base::wall_now_ms());
    const std::chrono::milliseconds theirs(*date + half_second_ms);
    with_.out.push_back(clock_finding(server, theirs + since - ours, round_trip));
  }
  if (!has_date)
    with_.add("clocks", verdict::skip, "no server of the store has said what time it is");
  for (const asked& one : all) one.whom->close();
}

}  // namespace

void examine_store(examination& in) {
  store_examination(in).run();
}

}  // namespace tenure::runtime

#include "cli/client/verify_codec.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/percent_text.hpp"
#include "base/printable_text.hpp"
#include "cli/client/reply_reading_codec.hpp"

namespace tenure::cli {
namespace {

using nlohmann::json;

/// True if a verdict is about what we have asked.
bool answers(const json& body, const verify_query& asked) {
  const json about = member(body, "asked");
  return text_in(body, "election") == base::printable(asked.election) && about.is_object() &&
         text_in(about, "version_text") == base::printable(asked.version) &&
         text_in(about, "holder") == base::printable(asked.holder.value_or(""));
}

std::string basis(const json& body) {
  const json age = member(body, "age_ms");
  const std::string source = text_in(body, "source");
  if (source == "lease") return "by its own lease";
  const std::string from = source == "store" ? "by the store" : "by the watch of its agent";
  return from + (age.is_number() ? ", " + age.dump() + " ms ago" : "");
}

verify_reading verdict_in(const json& body, bool valid) {
  if (!valid) {
    return {.is = verify_meaning::not_valid,
            .text = "not valid (" + text_in(body, "reason") + "): " + text_in(body, "message")};
  }
  return {.is = verify_meaning::valid,
          .text = "valid: " + text_in(body, "holder") + " holds election \"" +
                  text_in(body, "election") + "\" under version " + text_in(body, "version_text") +
                  " (" + basis(body) + ")"};
}

}  // namespace

std::string verify_target(const verify_query& what) {
  std::string out = "/v1/elections/" + base::percent_encoded(what.election) +
                    "/verify?version=" + base::percent_encoded(what.version);
  if (what.holder) out += "&holder=" + base::percent_encoded(*what.holder);
  if (what.fresh) out += "&fresh=1";
  return out;
}

verify_reading read_verify_reply(const verify_query& asked, unsigned status,
                                 const std::string& body) {
  const json parsed = parsed_reply(body);
  const json valid = member(parsed, "valid");
  if (status == (valid == true ? 200U : 409U) && valid.is_boolean() && answers(parsed, asked)) {
    return verdict_in(parsed, valid == true);
  }
  const json error = member(parsed, "error");
  if (error.is_object()) {
    const bool ours_to_mend = status >= 400 && status < 500;
    const std::string code = text_in(error, "code");
    // The agent's advice is for whoever writes requests.
    const std::string advice =
        code == "bad_query"
            ? "e.g. tenure verify " + base::printable(asked.election) + " --version 7"
            : text_in(error, "action");
    return {.is = ours_to_mend ? verify_meaning::bad_question : verify_meaning::cannot_tell,
            .store_may_tell = !asked.fresh && (code == "cache_behind" || code == "watch_broken" ||
                                               code == "lease_may_be_over"),
            .text = text_in(error, "message") + "; " + advice};
  }
  return {.is = verify_meaning::cannot_tell,
          .text = "the reply (status " + std::to_string(status) +
                  ") is not an agent's answer to this question; is --api the address of an agent?"};
}

}  // namespace tenure::cli

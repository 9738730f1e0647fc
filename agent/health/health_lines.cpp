#include "health/health_lines.hpp"

#include "core/timing.hpp"

namespace tenure::health {

void say_health_checked(log::logger& to, const std::string& subjects, core::duration interval,
                        bool always) {
  to.write(log::log_level::info,
           always ? "health is always checked; this member campaigns only while healthy"
                  : "health is checked while the workload runs",
           {{"checks", subjects}, {"every", core::text(interval)}});
}

void say_health_asks_nobody(log::logger& to) {
  to.write(log::log_level::warn,
           "health_http is also asked while the workload does not run; if the workload itself "
           "answers, no member ever campaigns: leave out health_while");
}

void say_health(log::logger& to, const log::speaker& who, core::health verdict,
                const std::string& why) {
  if (verdict == core::health::unhealthy) {
    to.write(log::log_level::warn, "workload unhealthy",
             {{"election", who.election}, {"identity", who.identity}, {"why", why}});
  } else {
    to.write(log::log_level::info, "workload healthy",
             {{"election", who.election}, {"identity", who.identity}});
  }
}

}  // namespace tenure::health

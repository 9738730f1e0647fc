#include "reader.hpp"

#include <utility>

namespace tenure::shell {

reader::reader(stage& s, const pod_machine& on, std::size_t election, question ask)
    : stage_(s), on_(on), election_(election), ask_(std::move(ask)) {
  this->ask();
}

void reader::ask() {
  if (const auto said = ask_()) {
    acts_under(*said);
    if (*said != 0) {
      // Its own clock says when the answer is too old.
      stage_.in.after(on_.clock.takes(stage_.when.grace),
                      [this, of = ++yeses_, here = std::weak_ptr(here_)] {
                        if (!here.expired() && of == yeses_) acts_under(0);
                      });
    }
  }
  stage_.in.after(stage_.in.dice.between(stage_.when.grace / 8, stage_.when.grace / 2),
                  [this, here = std::weak_ptr(here_)] {
                    if (!here.expired()) this->ask();
                  });
}

void reader::acts_under(std::uint64_t version) {
  const std::uint64_t before = std::exchange(acts_, version);
  if (before == version) return;
  if (before != 0) stage_.referee.ends(on_.number, name(), before);
  if (version != 0) stage_.referee.starts(on_.number, name(), version);
}

}  // namespace tenure::shell

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "cli/client/ask.hpp"
#include "cli/client/local_agents.hpp"
#include "cli/text/completion.hpp"
#include "cli/verbs.hpp"
#include "core/check.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {
namespace {

/// A shell that hangs during typing is worse than one that offers less.
constexpr core::duration patience = std::chrono::milliseconds(300);

// The program itself decides what to offer: a script only passes the words to it and back.
constexpr std::string_view bash_script =
    R"(# bash completion of tenure; to load it: source <(tenure completion bash)
_tenure() {
  local line=${COMP_LINE:0:COMP_POINT} program=${COMP_WORDS[0]/#\~/$HOME}
  local words=() lines=() cur head offer one
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  cur=${words[-1]}
  # In a word with = or : bash replaces only the part after the last of them.
  head=
  [[ $COMP_WORDBREAKS == *[=:]* && $cur == *[=:]* ]] && head=${cur%"${cur##*[=:]}"}
  mapfile -t lines < <("$program" complete -- "${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  [[ ${#lines[@]} -gt 0 ]] || return
  offer=${lines[-1]}
  unset 'lines[-1]'
  for one in "${lines[@]}"; do
    one=${one%%$'\t'*}
    COMPREPLY+=("${one#"$head"}")
  done
  cur=${cur#"$head"}
  case $offer in
    :beginning) compopt -o nospace ;;
    :files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    :directories) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    :commands) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
  esac
}
complete -F _tenure tenure
)";

constexpr std::string_view zsh_script = R"(#compdef tenure
# zsh completion of tenure; to load it: source <(tenure completion zsh), after compinit
_tenure() {
  local -a lines values shown
  local offer one
  lines=("${(@f)$(${(Q)words[1]/#\~/$HOME} complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  offer=${lines[-1]}
  for one in "${(@)lines[1,-2]}"; do
    values+=("${one%%$'\t'*}")
    shown+=("${one/$'\t'/  -- }")
  done
  case $offer in
    :words) compadd -l -d shown -a values ;;
    :beginning) compadd -S '' -l -d shown -a values ;;
    :files) _files ;;
    :directories) _files -/ ;;
    :commands) _command_names -e ;;
  esac
}
compdef _tenure tenure
)";

constexpr std::string_view fish_script =
    R"(# fish completion of tenure; to load it: tenure completion fish | source
function __tenure_complete
  set -l words (commandline -opc)
  set -l cur (commandline -ct)
  set -l lines ($words[1] complete -- $words[2..] "$cur" 2>/dev/null)
  test (count $lines) -gt 0; or return
  switch $lines[-1]
    case ':files'
      __fish_complete_path "$cur"
    case ':directories'
      __fish_complete_directories "$cur"
    case ':commands'
      complete -C "$cur"
    case '*'
      test (count $lines) -gt 1; and printf '%s\n' $lines[1..-2]
  end
end
complete -c tenure -f -a '(__tenure_complete)'
)";

std::string_view name(offer what) {
  switch (what) {
    case offer::words:
      return ":words";
    case offer::beginning:
      return ":beginning";
    case offer::files:
      return ":files";
    case offer::directories:
      return ":directories";
    case offer::commands:
      return ":commands";
  }
  return "";
}

std::vector<wire::election_report> elections_of(const std::optional<std::string>& api) {
  const auto agents = agents_to_ask(api, "");
  if (!agents) return {};
  std::vector<wire::election_report> out;
  for (const agent_answer& answer :
       ask_all(*agents, {.method = "GET", .target = path_of(std::nullopt)}, patience)) {
    if (!answer) continue;
    for (wire::election_report& one :
         wire::read_elections(*answer).value_or(std::vector<wire::election_report>())) {
      if (std::ranges::find(out, one.election, &wire::election_report::election) == out.end()) {
        out.push_back(std::move(one));
      }
    }
  }
  return out;
}

}  // namespace

std::string_view completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script;
  if (shell == "zsh") return zsh_script;
  TENURE_CHECK(shell == "fish");
  return fish_script;
}

int run_complete(int argc, const char* const* argv) {
  const std::vector<std::string> words(argv + std::min(argc, 3), argv + argc);
  const suggestions found = complete(words, elections_of);
  for (const suggestion& one : found.words) {
    std::printf("%s", one.word.c_str());
    if (!one.doc.empty()) std::printf("\t%.*s", static_cast<int>(one.doc.size()), one.doc.data());
    std::puts("");
  }
  std::puts(name(found.what).data());
  return runtime::exit_ok;
}

int run_completion(const invocation& what) {
  std::fputs(completion_script(what.value("SHELL").value_or("")).data(), stdout);
  return runtime::exit_ok;
}

}  // namespace tenure::cli

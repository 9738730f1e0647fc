#pragma once

#include <string_view>

#include "config/fields.hpp"
#include "config/values.hpp"

/// Names that are not settings of ours, but show what the user wanted. They are given without `--`
/// and `TENURE_`, in any spelling.
namespace tenure::config {

/// True for a name whose value would be a secret: password, TOKEN, etcd-password. No message may
/// repeat a value that follows such a name.
bool names_a_secret(std::string_view name);

/// What to say about such a name. `instead` is the setting to use, as its source spells it:
/// "password_file", "--password-file".
mistake misplaced_secret(std::string_view instead);

/// The setting that other tools call `name`, such as etcdctl's `cacert`; nullptr if none is.
const field* called_elsewhere(std::string_view name);

}  // namespace tenure::config

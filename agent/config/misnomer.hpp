#pragma once

#include <string_view>

#include "config/fields.hpp"
#include "config/values.hpp"

/// Names that are no setting of ours, but that tell what somebody wanted. All are given without
/// `--` and `TENURE_`, in any spelling.
namespace tenure::config {

/// True for a name by which a secret itself would be handed over: password, TOKEN, etcd-password.
/// Nothing that follows such a name may be repeated in a message.
bool names_a_secret(std::string_view name);

/// What to say of such a name. `instead` is the setting that it should have been, as its source
/// spells it: "password_file", "--password-file".
mistake misplaced_secret(std::string_view instead);

/// The setting that other tools call `name`, such as etcdctl's `cacert`; nullptr if none is.
const field* called_elsewhere(std::string_view name);

}  // namespace tenure::config

#pragma once

#include <cstdint>

#include "core/version.hpp"
#include "stores/kubernetes/codec.hpp"
#include "stores/kubernetes/mirror.hpp"

/// What the annotations of a Lease say of its term, in each of its three states.
namespace tenure::stores::kubernetes {

/// The slot is being taken: nothing is left of the term before, and a write does not know its own
/// version.
note_change notes_of_new_term();

/// Our term has this version. `lease` is as it was last seen of that term.
note_change notes_of_term(const own_run& self, const lease_object& lease, core::version version);

/// The term `of` was released by a write that says `released_ms` as its `renewTime`, with this text
/// as the release record. Without one, others treat the release as a loss.
note_change notes_of_released_term(const slot_holder& of, const lease_object& lease,
                                   std::int64_t released_ms, const std::string& record);

}  // namespace tenure::stores::kubernetes

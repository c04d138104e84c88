// Conversions between the engine's message values and their data classes in Python.
// Every binding can take and give the values as they are.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "wire/draft.h"
#include "wire/header.h"
#include "wire/legacy/prototype.h"
#include "wire/private_data.h"

namespace steertag::bindings {

/// Converts a value of a data class to the engine's form and back. `from` throws a Python
/// ValueError or TypeError that names the path of the field.
template <class Value>
struct MessageValue {
  static bool is(pybind11::handle object);
  static Value from(pybind11::handle object);
  static pybind11::object to(const Value& value);
};

#define STEERTAG_MESSAGE_VALUES(VALUE) \
  VALUE(Segment)                       \
  VALUE(ReadSegment)                   \
  VALUE(Header)                        \
  VALUE(FixedWords)                    \
  VALUE(DraftReadEntry)                \
  VALUE(DraftChunk)                    \
  VALUE(Draft)                         \
  VALUE(PrototypeChunk)                \
  VALUE(PrototypeHeader)               \
  VALUE(FieldSpan)                     \
  VALUE(PrivateData)                   \
  VALUE(PrivateDataDraft)              \
  VALUE(FoundPrivateData)              \
  VALUE(Negotiated)

/// Creates the data classes of all of them, and the enumerations that they need.
void add_message_classes(const pybind11::module_& module);

/// Raises steertag.wire.DecodeError.
[[noreturn]] void raise_decode_error(const wire::Fault& fault);

template <class Value>
struct MessageCaster {
  PYBIND11_TYPE_CASTER(Value, pybind11::detail::const_name("a value of steertag.wire"));

  bool load(pybind11::handle source, bool) {
    if (!MessageValue<Value>::is(source)) return false;
    value = MessageValue<Value>::from(source);
    return true;
  }
  static pybind11::handle cast(const Value& from, pybind11::return_value_policy, pybind11::handle) {
    return MessageValue<Value>::to(from).release();
  }
};

}  // namespace steertag::bindings

namespace pybind11::detail {

#define STEERTAG_CASTER(Name)                                        \
  template <>                                                        \
  struct type_caster<steertag::wire::Name>                           \
      : steertag::bindings::MessageCaster<steertag::wire::Name> {    \
    static constexpr auto name = const_name("steertag.wire." #Name); \
  };
STEERTAG_MESSAGE_VALUES(STEERTAG_CASTER)
#undef STEERTAG_CASTER

}  // namespace pybind11::detail

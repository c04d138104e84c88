// Conversions between the engine's message values and the data classes of steertag.messages, so
// that every binding can take and give them as they are.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "wire/draft.h"
#include "wire/header.h"
#include "wire/private_data.h"

namespace steertag::bindings {

/// A value of a class of steertag.messages into the engine's form and back. `from` throws a Python
/// ValueError or TypeError that names the path of the field.
template <class Value>
struct MessageValue;

#define STEERTAG_MESSAGE_VALUES(VALUE) \
  VALUE(Segment)                       \
  VALUE(ReadSegment)                   \
  VALUE(Header)                        \
  VALUE(FixedWords)                    \
  VALUE(DraftReadEntry)                \
  VALUE(DraftChunk)                    \
  VALUE(Draft)                         \
  VALUE(FieldSpan)                     \
  VALUE(PrivateData)                   \
  VALUE(PrivateDataDraft)              \
  VALUE(FoundPrivateData)              \
  VALUE(Negotiated)

#define STEERTAG_DECLARE(Name)                           \
  template <>                                            \
  struct MessageValue<wire::Name> {                      \
    static constexpr const char* kClass = #Name;         \
    static wire::Name from(pybind11::handle object);     \
    static pybind11::object to(const wire::Name& value); \
  };
STEERTAG_MESSAGE_VALUES(STEERTAG_DECLARE)
#undef STEERTAG_DECLARE

/// The class of this name in steertag.messages.
pybind11::object message_class(const char* name);

/// Raises steertag.wire.DecodeError.
[[noreturn]] void raise_decode_error(const wire::Fault& fault);

template <class Value>
struct MessageCaster {
  PYBIND11_TYPE_CASTER(Value, pybind11::detail::const_name("steertag.messages value"));

  bool load(pybind11::handle source, bool) {
    if (!pybind11::isinstance(source, message_class(MessageValue<Value>::kClass))) return false;
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

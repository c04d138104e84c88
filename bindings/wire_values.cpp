// Conversions between the engine's message values and the data classes of steertag.messages.
#include "wire_values.h"

#include <limits>

#include "bind.h"

namespace steertag::bindings {
namespace {

/// Where in a value a conversion is; becomes text only for an error message.
struct Path {
  const Path* up = nullptr;
  const char* name = "";
  py::ssize_t index = -1;

  std::string text() const {
    if (index >= 0) return up->text() + "[" + std::to_string(index) + "]";
    return up == nullptr ? name : up->text() + "." + name;
  }
};

std::uint64_t to_unsigned(py::handle object, std::uint64_t most, const Path& path) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!number) {
    PyErr_Clear();
    throw py::type_error(path.text() + ": an int is needed");
  }
  const std::uint64_t value = PyLong_AsUnsignedLongLong(number.ptr());
  const bool overflow = PyErr_Occurred() != nullptr;
  if (overflow) PyErr_Clear();
  if (overflow || value > most) {
    throw py::value_error(path.text() + ": " + std::string(py::str(number)) +
                          " is not between 0 and " + std::to_string(most));
  }
  return value;
}

Bytes to_bytes(py::handle object, const Path& path) {
  if (!PyObject_CheckBuffer(object.ptr())) {
    throw py::type_error(path.text() + ": a bytes-like object is needed");
  }
  return from_python(py::reinterpret_borrow<py::buffer>(object));
}

/// Takes the fields of one Python object.
class Fields {
 public:
  Fields(py::handle object, const char* class_name, const Path& path)
      : object_(object), path_(path) {
    if (!py::isinstance(object, message_class(class_name))) {
      throw py::type_error(path.text() + ": a " + class_name + " is needed");
    }
  }

  template <class Unsigned>
  void number(const char* name, Unsigned& value) const {
    const Path path{&path_, name};
    value = static_cast<Unsigned>(
        to_unsigned(object_.attr(name), std::numeric_limits<Unsigned>::max(), path));
  }
  template <class Unsigned>
  void number(const char* name, std::optional<Unsigned>& value) const {
    value.reset();
    if (!object_.attr(name).is_none()) number(name, value.emplace());
  }
  void boolean(const char* name, bool& value) const {
    value = py::bool_(py::object(object_.attr(name)));
  }
  void bytes(const char* name, Bytes& value) const {
    value = to_bytes(object_.attr(name), Path{&path_, name});
  }
  /// Calls `each(item, path)` for every item of an iterable field.
  template <class Each>
  void items(const char* name, Each each) const {
    const Path path{&path_, name};
    for_items(object_.attr(name), path, each);
  }
  template <class Each>
  static void for_items(const py::object& items, const Path& path, Each each) {
    if (!py::isinstance<py::sequence>(items)) {
      throw py::type_error(path.text() + ": a list is needed");
    }
    const auto sequence = py::reinterpret_borrow<py::sequence>(items);
    const auto size = static_cast<py::ssize_t>(sequence.size());
    for (py::ssize_t i = 0; i < size; ++i) {
      each(py::object(sequence[static_cast<std::size_t>(i)]), Path{&path, "", i});
    }
  }
  py::object raw(const char* name) const { return object_.attr(name); }
  Path path(const char* name) const { return Path{&path_, name}; }

 private:
  py::handle object_;
  const Path& path_;
};

wire::Segment segment_from(py::handle object, const Path& path) {
  const Fields fields(object, "Segment", path);
  wire::Segment segment;
  fields.number("handle", segment.handle);
  fields.number("length", segment.length);
  fields.number("offset", segment.offset);
  return segment;
}

wire::ReadSegment read_segment_from(py::handle object, const Path& path) {
  const Fields fields(object, "ReadSegment", path);
  wire::ReadSegment segment;
  fields.number("position", segment.position);
  segment.target = segment_from(fields.raw("target"), fields.path("target"));
  return segment;
}

wire::DraftReadEntry entry_from(py::handle object, const Path& path) {
  const Fields fields(object, "DraftReadEntry", path);
  wire::DraftReadEntry entry;
  fields.number("presence", entry.presence);
  fields.boolean("omit_body", entry.omit_body);
  entry.segment = read_segment_from(fields.raw("segment"), fields.path("segment"));
  return entry;
}

wire::DraftChunk chunk_from(py::handle object, const Path& path) {
  const Fields fields(object, "DraftChunk", path);
  wire::DraftChunk chunk;
  fields.number("presence", chunk.presence);
  fields.number("count", chunk.count);
  fields.boolean("omit_body", chunk.omit_body);
  fields.items("segments", [&](const py::object& item, const Path& at) {
    chunk.segments.push_back(segment_from(item, at));
  });
  return chunk;
}

wire::PrivateData private_data_from(py::handle object, const Path& path) {
  const Fields fields(object, "PrivateData", path);
  wire::PrivateData data;
  fields.boolean("remote_invalidation", data.remote_invalidation);
  fields.number("send_bytes", data.send_bytes);
  fields.number("receive_bytes", data.receive_bytes);
  return data;
}

template <class Value>
py::object to_object(const Value& value) {
  return MessageValue<Value>::to(value);
}

template <class Items>
py::list to_list(const Items& items) {
  py::list list;
  for (const auto& item : items) list.append(to_object(item));
  return list;
}

template <class Enum>
py::object enum_object(const char* name, Enum value) {
  return message_class(name)(static_cast<std::uint32_t>(value));
}

}  // namespace

py::object message_class(const char* name) {
  return py::module_::import("steertag.messages").attr(name);
}

void raise_decode_error(const wire::Fault& fault) {
  const py::object type = message_class("DecodeError");
  const py::object error =
      type(fault.message(), wire::code_name(fault.code), fault.offset, fault.field);
  PyErr_SetObject(type.ptr(), error.ptr());
  throw py::error_already_set();
}

using py::literals::operator""_a;

wire::Segment MessageValue<wire::Segment>::from(py::handle object) {
  return segment_from(object, Path{nullptr, kClass});
}
py::object MessageValue<wire::Segment>::to(const wire::Segment& value) {
  return message_class(kClass)(value.handle, value.length, value.offset);
}

wire::ReadSegment MessageValue<wire::ReadSegment>::from(py::handle object) {
  return read_segment_from(object, Path{nullptr, kClass});
}
py::object MessageValue<wire::ReadSegment>::to(const wire::ReadSegment& value) {
  return message_class(kClass)(value.position, to_object(value.target));
}

wire::Header MessageValue<wire::Header>::from(py::handle object) {
  const Path root{nullptr, kClass};
  const Fields fields(object, kClass, root);
  wire::Header header;
  fields.number("xid", header.xid);
  fields.number("vers", header.vers);
  fields.number("credit", header.credit);
  header.proc = static_cast<wire::Procedure>(to_unsigned(
      fields.raw("proc"), static_cast<std::uint32_t>(wire::Procedure::error), fields.path("proc")));
  fields.items("read_list", [&](const py::object& item, const Path& at) {
    header.read_list.push_back(read_segment_from(item, at));
  });
  fields.items("write_list", [&](const py::object& chunk, const Path& at) {
    header.write_list.open();
    Fields::for_items(chunk, at, [&](const py::object& item, const Path& segment_at) {
      header.write_list.extend(segment_from(item, segment_at));
    });
  });
  header.has_reply_chunk = !fields.raw("reply_chunk").is_none();
  if (header.has_reply_chunk) {
    fields.items("reply_chunk", [&](const py::object& item, const Path& at) {
      header.reply_chunk.push_back(segment_from(item, at));
    });
  }
  fields.number("align", header.align);
  fields.number("thresh", header.thresh);
  const std::uint64_t error = to_unsigned(fields.raw("error"), 2, fields.path("error"));
  if (error == 0) throw py::value_error("Header.error: neither ERR_VERS nor ERR_CHUNK");
  header.error = static_cast<wire::ErrorCode>(error);
  fields.number("vers_low", header.vers_low);
  fields.number("vers_high", header.vers_high);
  return header;
}
py::object MessageValue<wire::Header>::to(const wire::Header& value) {
  py::list write_list;
  for (std::size_t i = 0; i < value.write_list.size(); ++i) {
    write_list.append(to_list(value.write_list[i]));
  }
  py::object reply_chunk = py::none();
  if (value.has_reply_chunk) reply_chunk = to_list(value.reply_chunk);
  return message_class(kClass)(
      "xid"_a = value.xid, "vers"_a = value.vers, "credit"_a = value.credit,
      "proc"_a = enum_object("Procedure", value.proc), "read_list"_a = to_list(value.read_list),
      "write_list"_a = write_list, "reply_chunk"_a = reply_chunk, "align"_a = value.align,
      "thresh"_a = value.thresh, "error"_a = enum_object("ErrorCode", value.error),
      "vers_low"_a = value.vers_low, "vers_high"_a = value.vers_high);
}

wire::FixedWords MessageValue<wire::FixedWords>::from(py::handle object) {
  const Path root{nullptr, kClass};
  const Fields fields(object, kClass, root);
  wire::FixedWords words;
  fields.number("xid", words.xid);
  fields.number("vers", words.vers);
  fields.number("credit", words.credit);
  fields.number("proc", words.proc);
  return words;
}
py::object MessageValue<wire::FixedWords>::to(const wire::FixedWords& value) {
  return message_class(kClass)(value.xid, value.vers, value.credit, value.proc);
}

wire::DraftReadEntry MessageValue<wire::DraftReadEntry>::from(py::handle object) {
  return entry_from(object, Path{nullptr, kClass});
}
py::object MessageValue<wire::DraftReadEntry>::to(const wire::DraftReadEntry& value) {
  return message_class(kClass)(to_object(value.segment), value.presence, value.omit_body);
}

wire::DraftChunk MessageValue<wire::DraftChunk>::from(py::handle object) {
  return chunk_from(object, Path{nullptr, kClass});
}
py::object MessageValue<wire::DraftChunk>::to(const wire::DraftChunk& value) {
  return message_class(kClass)(to_list(value.segments), value.count, value.presence,
                               value.omit_body);
}

wire::Draft MessageValue<wire::Draft>::from(py::handle object) {
  const Path root{nullptr, kClass};
  const Fields fields(object, kClass, root);
  wire::Draft draft;
  fields.number("xid", draft.xid);
  fields.number("vers", draft.vers);
  fields.number("credit", draft.credit);
  fields.number("proc", draft.proc);
  fields.number("align", draft.align);
  fields.number("thresh", draft.thresh);
  fields.number("error", draft.error);
  fields.number("vers_low", draft.vers_low);
  fields.number("vers_high", draft.vers_high);
  fields.items("read_list", [&](const py::object& item, const Path& at) {
    draft.read_list.push_back(entry_from(item, at));
  });
  fields.number("read_list_end", draft.read_list_end);
  fields.items("write_list", [&](const py::object& item, const Path& at) {
    draft.write_list.push_back(chunk_from(item, at));
  });
  fields.number("write_list_end", draft.write_list_end);
  if (!fields.raw("reply_chunk").is_none()) {
    draft.reply_chunk = chunk_from(fields.raw("reply_chunk"), fields.path("reply_chunk"));
  }
  fields.number("reply_chunk_absent", draft.reply_chunk_absent);
  fields.bytes("payload", draft.payload);
  fields.number("cut_to", draft.cut_to);
  fields.bytes("append", draft.append);
  return draft;
}
py::object MessageValue<wire::Draft>::to(const wire::Draft& value) {
  py::object reply_chunk = py::none();
  if (value.reply_chunk) reply_chunk = to_object(*value.reply_chunk);
  return message_class(kClass)(
      "xid"_a = value.xid, "vers"_a = value.vers, "credit"_a = value.credit, "proc"_a = value.proc,
      "align"_a = value.align, "thresh"_a = value.thresh, "error"_a = value.error,
      "vers_low"_a = value.vers_low, "vers_high"_a = value.vers_high,
      "read_list"_a = to_list(value.read_list), "read_list_end"_a = value.read_list_end,
      "write_list"_a = to_list(value.write_list), "write_list_end"_a = value.write_list_end,
      "reply_chunk"_a = reply_chunk, "reply_chunk_absent"_a = value.reply_chunk_absent,
      "payload"_a = to_python(value.payload), "cut_to"_a = value.cut_to,
      "append"_a = to_python(value.append));
}

wire::FieldSpan MessageValue<wire::FieldSpan>::from(py::handle) {
  throw py::type_error("FieldSpan: the engine gives these, it takes none");
}
py::object MessageValue<wire::FieldSpan>::to(const wire::FieldSpan& value) {
  return message_class(kClass)(value.offset, value.length, value.name);
}

wire::PrivateData MessageValue<wire::PrivateData>::from(py::handle object) {
  return private_data_from(object, Path{nullptr, kClass});
}
py::object MessageValue<wire::PrivateData>::to(const wire::PrivateData& value) {
  return message_class(kClass)(value.remote_invalidation, value.send_bytes, value.receive_bytes);
}

wire::PrivateDataDraft MessageValue<wire::PrivateDataDraft>::from(py::handle object) {
  const Path root{nullptr, kClass};
  const Fields fields(object, kClass, root);
  wire::PrivateDataDraft draft;
  fields.number("identifier", draft.identifier);
  fields.number("version", draft.version);
  fields.number("flags", draft.flags);
  fields.number("send_size", draft.send_size);
  fields.number("receive_size", draft.receive_size);
  return draft;
}
py::object MessageValue<wire::PrivateDataDraft>::to(const wire::PrivateDataDraft& value) {
  return message_class(kClass)(value.identifier, value.version, value.flags, value.send_size,
                               value.receive_size);
}

wire::FoundPrivateData MessageValue<wire::FoundPrivateData>::from(py::handle object) {
  const Path root{nullptr, kClass};
  const Fields fields(object, kClass, root);
  wire::FoundPrivateData found;
  fields.number("offset", found.offset);
  found.data = private_data_from(fields.raw("data"), fields.path("data"));
  fields.number("raw_flags", found.raw_flags);
  return found;
}
py::object MessageValue<wire::FoundPrivateData>::to(const wire::FoundPrivateData& value) {
  return message_class(kClass)(value.offset, to_object(value.data), value.raw_flags);
}

wire::Negotiated MessageValue<wire::Negotiated>::from(py::handle object) {
  const Path root{nullptr, kClass};
  const Fields fields(object, kClass, root);
  wire::Negotiated result;
  fields.number("to_server_bytes", result.to_server_bytes);
  fields.number("to_client_bytes", result.to_client_bytes);
  fields.boolean("remote_invalidation", result.remote_invalidation);
  return result;
}
py::object MessageValue<wire::Negotiated>::to(const wire::Negotiated& value) {
  return message_class(kClass)(value.to_server_bytes, value.to_client_bytes,
                               value.remote_invalidation);
}

}  // namespace steertag::bindings

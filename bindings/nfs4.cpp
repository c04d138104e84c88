// Binds NFS versions 4.0 and 4.1 as steertag.nfs.nfs4: types, operations, attributes.
#include <cctype>

#include "class_tree.h"
#include "nfs/v4/attribute_codec.h"
#include "nfs/v4/compound.h"
#include "nfs_parts.h"

namespace steertag::bindings {
namespace {

using namespace steertag::nfs4;
using Classes = std::shared_ptr<DataClasses>;

/// "BIND_CONN_TO_SESSION" as "BindConnToSession".
std::string class_name(std::string_view operation) {
  std::string text;
  bool start = true;
  for (const char c : operation) {
    if (c == '_') {
      start = true;
      continue;
    }
    const auto octet = static_cast<unsigned char>(c);
    text += static_cast<char>(start ? octet : std::tolower(octet));
    start = false;
  }
  return text;
}

/// "ReadArgs", "ReadResult" and "ReadOk" of READ, and so on.
template <class Number>
void add_operations(ClassTree& tree) {
  for (const auto& entry : names_of(Number{})) {
    with_signature(entry.value, [&]<class Args, class Res>(Signature<Args, Res>) {
      tree.add<Args>(class_name(entry.name) + "Args");
      tree.add<Res>(class_name(entry.name) + "Result");
    });
  }
}

void add_attribute_values(ClassTree& tree) {
  kAttributes.for_each(
      [&]<class Value>(const Attribute<Value>&) { tree.add_value_of<std::optional<Value>>(); });
}

std::uint32_t attribute_number(py::handle object) {
  if (py::isinstance<py::int_>(object)) {
    return static_cast<std::uint32_t>(unsigned_from(object, UINT32_MAX, {nullptr, "attribute"}));
  }
  const auto name = object.cast<std::string>();
  for (std::uint32_t number = 0; !nfs4::attribute_name(number).empty(); ++number) {
    if (nfs4::attribute_name(number) == name) return number;
  }
  throw py::value_error("no attribute '" + name + "'");
}

/// Removes the keyword argument of that name from `left`. Returns a null object without one.
py::object take(const py::kwargs& values, py::set& left, std::string_view name) {
  const py::str key(name.data(), name.size());
  if (!values.contains(key)) return {};
  left.attr("discard")(key);
  return values[key];
}

/// The values of keyword arguments; they point into the arena.
Attributes attributes_from(const DataClasses& classes, const py::kwargs& values, Arena& arena) {
  Attributes made;
  py::set left(values.attr("keys")());
  kAttributes.for_each([&]<class Value>(const Attribute<Value>& row) {
    const py::object given = take(values, left, row.name);
    if (given) classes.from(given, (made.*row.member).emplace(), Path{nullptr, row.name}, arena);
  });
  if (!left.empty()) throw py::type_error("no attribute " + py::repr(left).cast<std::string>());
  return made;
}

py::dict attributes_to(const DataClasses& classes, const Attributes& values) {
  py::dict made;
  kAttributes.for_each([&]<class Value>(const Attribute<Value>& row) {
    const py::object value = classes.to(values.*row.member);
    if (!value.is_none()) made[py::str(row.name.data(), row.name.size())] = value;
  });
  return made;
}

void bind_attributes(py::module_& module, const Classes& classes) {
  module.def(
      "bitmap",
      [](const py::args& attributes) {
        Bitmap made;
        for (const py::handle each : attributes) {
          if (!made.set(attribute_number(each))) throw py::value_error("no room in a bitmap4");
        }
        py::list words;
        for (const std::uint32_t word : made) words.append(py::int_(word));
        return words;
      },
      "The words of a bitmap4 with these attributes, which are names or numbers.");
  module.def(
      "numbers",
      [classes](const py::object& words) {
        Arena arena;
        Bitmap bitmap;
        classes->from(words, bitmap, Path{nullptr, "words"}, arena);
        py::list found;
        bitmap.for_each([&](std::uint32_t number) { found.append(py::int_(number)); });
        return found;
      },
      py::arg("words"), "The numbers in a bitmap4, ascending.");
  module.def("attribute_name",
             [](std::uint32_t number) { return std::string(nfs4::attribute_name(number)); });
  module.def(
      "fattr",
      [classes](const py::kwargs& values) {
        Arena arena;
        const Attributes attributes = attributes_from(*classes, values, arena);
        Bytes storage;
        return classes->to(fattr_of(attributes, present(attributes), storage));
      },
      "A Fattr with these attributes: fattr(size=0, mode=0o644).");
  module.def(
      "attributes",
      [classes](const py::object& fattr) {
        Arena arena;
        Fattr from;
        classes->from(fattr, from, Path{nullptr, "fattr"}, arena);
        const auto decoded = decode_attributes(from);
        if (!decoded) raise_decode_error(decoded.error());
        return attributes_to(*classes, decoded->known);
      },
      py::arg("fattr"), "{name: value} of a Fattr. Raises DecodeError.");
}

// The RFCs' names of bits and numbers.
void add_constants(const py::module_& module) {
#define STEERTAG_CONSTANT(name) module.attr(#name) = name
  STEERTAG_CONSTANT(NFSPROC4_NULL);
  STEERTAG_CONSTANT(NFSPROC4_COMPOUND);
  STEERTAG_CONSTANT(CB_NULL);
  STEERTAG_CONSTANT(CB_COMPOUND);
  STEERTAG_CONSTANT(EXCHGID4_FLAG_BIND_PRINC_STATEID);
  STEERTAG_CONSTANT(EXCHGID4_FLAG_USE_NON_PNFS);
  STEERTAG_CONSTANT(EXCHGID4_FLAG_USE_PNFS_MDS);
  STEERTAG_CONSTANT(EXCHGID4_FLAG_USE_PNFS_DS);
  STEERTAG_CONSTANT(EXCHGID4_FLAG_CONFIRMED_R);
  STEERTAG_CONSTANT(CREATE_SESSION4_FLAG_PERSIST);
  STEERTAG_CONSTANT(CREATE_SESSION4_FLAG_CONN_BACK_CHAN);
  STEERTAG_CONSTANT(CREATE_SESSION4_FLAG_CONN_RDMA);
  STEERTAG_CONSTANT(SEQ4_STATUS_CB_PATH_DOWN);
  STEERTAG_CONSTANT(SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED);
  STEERTAG_CONSTANT(SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED);
  STEERTAG_CONSTANT(SEQ4_STATUS_ADMIN_STATE_REVOKED);
  STEERTAG_CONSTANT(SEQ4_STATUS_RECALLABLE_STATE_REVOKED);
  STEERTAG_CONSTANT(SEQ4_STATUS_RESTART_RECLAIM_NEEDED);
  STEERTAG_CONSTANT(SEQ4_STATUS_CB_PATH_DOWN_SESSION);
  STEERTAG_CONSTANT(SEQ4_STATUS_BACKCHANNEL_FAULT);
  STEERTAG_CONSTANT(OPEN4_SHARE_ACCESS_READ);
  STEERTAG_CONSTANT(OPEN4_SHARE_ACCESS_WRITE);
  STEERTAG_CONSTANT(OPEN4_SHARE_ACCESS_BOTH);
  STEERTAG_CONSTANT(OPEN4_SHARE_DENY_NONE);
  STEERTAG_CONSTANT(OPEN4_SHARE_ACCESS_WANT_READ_DELEG);
  STEERTAG_CONSTANT(OPEN4_SHARE_ACCESS_WANT_ANY_DELEG);
  STEERTAG_CONSTANT(OPEN4_SHARE_ACCESS_WANT_NO_DELEG);
#undef STEERTAG_CONSTANT
  module.attr("PROGRAM") = kProgram;
  module.attr("VERSION") = kVersion;
  module.attr("CALLBACK_PROGRAM") = kCallbackProgram;
  module.attr("CALLBACK_VERSION") = kCallbackVersion;
  module.attr("MOST_HANDLE_OCTETS") = kMostHandleOctets;
  module.attr("SESSION_ID_OCTETS") = kSessionIdOctets;
}

}  // namespace

void bind_nfs4(py::module_ module, const Classes& classes) {
  classes->add_enum<Status>(module, "Status", "nfsstat4 (RFC 8881 15.1).", true);
  classes->add_enum<Opnum>(module, "Opnum", "nfs_opnum4 without the prefix OP_.", false);
  classes->add_enum<CbOpnum>(module, "CbOpnum", "nfs_cb_opnum4 without the prefix OP_.", false);
  ClassTree tree(module, classes);
  tree.add<Result<Void>>("StatusResult");
  add_operations<Opnum>(tree);
  add_operations<CbOpnum>(tree);
  add_attribute_values(tree);
  tree.add<CompoundArgs>();
  tree.add<CbCompoundArgs>();
  tree.add<CompoundResult>();
  bind_attributes(module, classes);
  bind_nfs4_compound(module, classes);
  add_constants(module);
}

}  // namespace steertag::bindings

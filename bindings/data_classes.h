// Python data classes made from the engine's lists of fields (rpc/fields.h), and conversions.
// Python owns its values; the engine's views point into an arena while a call encodes.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bind.h"
#include "rpc/fields.h"

namespace steertag::bindings {

/// Where in a value a conversion is, for messages such as "Draft.write_list[0].count".
struct Path {
  const Path* parent = nullptr;
  std::string_view name;
  bool element = false;  // of a list: `name` is its index

  std::string text() const;
};

/// Owns the octets of converted values, and lives as long as the values.
using Arena = std::deque<Bytes>;

[[noreturn]] void raise_field_type(const Path& path, const char* wanted, py::handle got);
[[noreturn]] void raise_field_range(const Path& path, const std::string& problem);

std::uint64_t unsigned_from(py::handle object, std::uint64_t most, const Path& path);
std::int64_t signed_from(py::handle object, std::int64_t least, std::int64_t most,
                         const Path& path);
/// Octets of bytes-like objects, kept in the arena.
View octets_from(py::handle object, const Path& path, Arena& arena);
/// Text as UTF-8. Undecodable octets become surrogates and back, so nothing is lost.
std::string_view text_from(py::handle object, const Path& path, Arena& arena);
py::object text_to(std::string_view text);

/// The list of a struct's fields: its own, or a specialisation's for a struct that has none.
template <class T>
struct FieldsOf {
  static constexpr const auto& kFields = T::kFields;
};

class DataClasses;

/// Type-erased conversions of one C++ type: `value` points to one. Code that walks fields is
/// compiled once for all structs.
struct ValueType {
  py::object (*to)(const DataClasses& classes, const void* value);
  void (*from)(const DataClasses& classes, py::handle object, void* value, const Path& path,
               Arena& arena);
};

/// A field of a struct: the RFC's name, its offset in octets, and its type.
struct FieldRow {
  std::string_view name;
  std::size_t offset;
  const ValueType* type;
};

/// The Python classes of the engine's structs and enumerations, by C++ type.
class DataClasses {
 public:
  /// Adds a data class `name` to `module`. A type with a class gets a second name.
  template <class T>
  void add(const py::module_& module, const std::string& name, const char* doc);

  /// Adds an IntEnum with the RFC's names. `exported` adds the names to the module too.
  template <class Enum>
  void add_enum(const py::module_& module, const char* name, const char* doc, bool exported) {
    py::list members;
    for (const auto& entry : names_of(Enum{})) {
      members.append(py::make_tuple(py::str(entry.name.data(), entry.name.size()),
                                    static_cast<std::uint32_t>(entry.value)));
    }
    add_enum(typeid(Enum), module, name, doc, members, exported);
  }

  /// The class of T, or a null object.
  template <class T>
  py::object find() const {
    return find(typeid(T));
  }

  template <class T>
  py::object to(const T& value) const;
  /// Throws Python's TypeError or ValueError, which name the path.
  template <class T>
  void from(py::handle object, T& value, const Path& path, Arena& arena) const;

  /// A member of the enumeration, or an int for a value without an RFC name.
  py::object enum_to(const std::type_info& type, std::uint32_t value) const;
  py::object struct_to(const std::type_info& type, const void* value) const;
  void struct_from(const std::type_info& type, py::handle object, void* value, const Path& path,
                   Arena& arena) const;

 private:
  /// The facts on a type: its class, a struct's fields with their attributes, an enumeration's
  /// numbers.
  struct Known {
    py::object type;
    std::vector<FieldRow> fields;
    std::vector<py::str> attributes;
    std::unordered_set<std::uint32_t> numbers;
  };

  py::object find(const std::type_info& type) const;
  const Known& known(const std::type_info& type) const;
  void add_enum(const std::type_info& type, const py::module_& module, const char* name,
                const char* doc, const py::list& members, bool exported);
  void add_struct(const std::type_info& type, std::span<const FieldRow> fields,
                  const void* defaults, const py::module_& module, const std::string& name,
                  const char* doc);

  std::unordered_map<std::type_index, Known> classes_;
};

namespace detail {

/// The items of a Python sequence in turn: `while (items.next()) use(items.item(), items.path())`.
class Items {
 public:
  Items(py::handle sequence, const Path& path);

  bool next();
  py::handle item() const { return item_; }
  /// The item's place in the value.
  const Path& path() const { return place_; }

 private:
  py::sequence sequence_;
  std::size_t index_ = 0;
  std::string name_;
  Path place_;
  py::object item_;
};

void fixed_octets_from(py::handle object, std::span<std::byte> value, const Path& path,
                       Arena& arena);

template <class T>
struct Conversion;

}  // namespace detail

template <class T>
py::object DataClasses::to(const T& value) const {
  return detail::Conversion<T>::to(*this, value);
}

template <class T>
void DataClasses::from(py::handle object, T& value, const Path& path, Arena& arena) const {
  detail::Conversion<T>::from(*this, object, value, path, arena);
}

template <class T>
inline constexpr ValueType kValueType{
    [](const DataClasses& classes, const void* value) {
      return classes.to(*static_cast<const T*>(value));
    },
    [](const DataClasses& classes, py::handle object, void* value, const Path& path, Arena& arena) {
      classes.from(object, *static_cast<T*>(value), path, arena);
    }};

/// The row of a field; `in` is any value of the struct.
template <class Struct, class Member>
FieldRow field_row(const Struct& in, std::string_view name, Member Struct::*member) {
  const auto* first = reinterpret_cast<const std::byte*>(&in);
  const auto* place = reinterpret_cast<const std::byte*>(&(in.*member));
  return {name, static_cast<std::size_t>(place - first), &kValueType<Member>};
}

template <class T>
void DataClasses::add(const py::module_& module, const std::string& name, const char* doc) {
  if constexpr (!std::is_same_v<T, rpc::Void>) {
    const T defaults{};
    FieldsOf<T>::kFields.apply([&](const auto&... field) {
      const FieldRow rows[] = {field_row(defaults, field.name, field.member)...};
      add_struct(typeid(T), rows, &defaults, module, name, doc);
    });
  }
}

namespace detail {

template <class T>
struct Conversion {
  static py::object to(const DataClasses& classes, const T& value) {
    if constexpr (std::is_same_v<T, rpc::Void>) {
      return py::none();
    } else if constexpr (std::is_same_v<T, bool>) {
      return py::bool_(value);
    } else if constexpr (std::is_enum_v<T>) {
      return classes.enum_to(typeid(T), static_cast<std::uint32_t>(value));
    } else if constexpr (std::is_integral_v<T>) {
      return py::int_(value);
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      return text_to(value);
    } else if constexpr (std::is_same_v<T, View>) {
      return to_python(value);
    } else if constexpr (rpc::Holder<T>) {
      return to_python(value.view());
    } else if constexpr (rpc::Bounded<T>) {
      py::list list;
      for (const auto& item : value) list.append(classes.to(item));
      return list;
    } else {
      return classes.struct_to(typeid(T), &value);
    }
  }

  static void from(const DataClasses& classes, py::handle object, T& value, const Path& path,
                   Arena& arena) {
    if constexpr (std::is_same_v<T, rpc::Void>) {
      if (!object.is_none()) raise_field_type(path, "None", object);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!py::isinstance<py::bool_>(object)) raise_field_type(path, "bool", object);
      value = object.cast<bool>();
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(unsigned_from(object, UINT32_MAX, path));
    } else if constexpr (std::is_signed_v<T>) {
      using Limits = std::numeric_limits<T>;
      value = static_cast<T>(signed_from(object, Limits::min(), Limits::max(), path));
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(unsigned_from(object, std::numeric_limits<T>::max(), path));
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      value = text_from(object, path, arena);
    } else if constexpr (std::is_same_v<T, View>) {
      value = octets_from(object, path, arena);
    } else if constexpr (rpc::Holder<T>) {
      if (!value.assign(octets_from(object, path, arena))) {
        raise_field_range(path, "more than " + std::to_string(T::kCapacity) + " octets");
      }
    } else if constexpr (rpc::Bounded<T>) {
      items_from(classes, object, value, path, arena);
    } else {
      classes.struct_from(typeid(T), object, &value, path, arena);
    }
  }

 private:
  static void items_from(const DataClasses& classes, py::handle object, T& value, const Path& path,
                         Arena& arena) {
    Items items(object, path);
    value.clear();
    while (items.next()) {
      typename T::value_type item{};
      classes.from(items.item(), item, items.path(), arena);
      if (!value.push_back(item)) {
        raise_field_range(path, "more than " + std::to_string(T::kMostItems) + " items");
      }
    }
  }
};

template <>
struct Conversion<Bytes> {
  static py::object to(const DataClasses&, const Bytes& value) { return to_python(value); }
  static void from(const DataClasses&, py::handle object, Bytes& value, const Path& path,
                   Arena& arena) {
    const View octets = octets_from(object, path, arena);
    value.assign(octets.begin(), octets.end());
  }
};

template <std::size_t kSize>
struct Conversion<std::array<std::byte, kSize>> {
  using Octets = std::array<std::byte, kSize>;
  static py::object to(const DataClasses&, const Octets& value) { return to_python(value); }
  static void from(const DataClasses&, py::handle object, Octets& value, const Path& path,
                   Arena& arena) {
    fixed_octets_from(object, value, path, arena);
  }
};

template <class T>
struct Conversion<std::optional<T>> {
  static py::object to(const DataClasses& classes, const std::optional<T>& value) {
    return value ? classes.to(*value) : py::object(py::none());
  }
  static void from(const DataClasses& classes, py::handle object, std::optional<T>& value,
                   const Path& path, Arena& arena) {
    value.reset();
    if (!object.is_none()) classes.from(object, value.emplace(), path, arena);
  }
};

template <class T>
struct Conversion<std::vector<T>> {
  static py::object to(const DataClasses& classes, const std::vector<T>& value) {
    py::list list;
    for (const T& item : value) list.append(classes.to(item));
    return list;
  }
  static void from(const DataClasses& classes, py::handle object, std::vector<T>& value,
                   const Path& path, Arena& arena) {
    Items items(object, path);
    value.clear();
    while (items.next()) classes.from(items.item(), value.emplace_back(), items.path(), arena);
  }
};

template <class T>
struct Conversion<rpc::Chain<T>> {
  static py::object to(const DataClasses& classes, const rpc::Chain<T>& value) {
    return classes.to(value.items);
  }
  static void from(const DataClasses& classes, py::handle object, rpc::Chain<T>& value,
                   const Path& path, Arena& arena) {
    classes.from(object, value.items, path, arena);
  }
};

}  // namespace detail

/// The classes of bind_wire, which later bindings extend.
std::shared_ptr<DataClasses> shared_classes();
/// Creates them; for bind_wire.
std::shared_ptr<DataClasses> start_shared_classes(const py::module_& wire_module);

}  // namespace steertag::bindings

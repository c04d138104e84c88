// Python data classes made from the engine's lists of fields (rpc/fields.h), and conversions
// between the two. Python owns its values; the engine's views point into an arena while a call
// encodes.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <typeindex>
#include <unordered_map>

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

/// Octets that converted values point into. Lives as long as the values.
using Arena = std::deque<Bytes>;

[[noreturn]] void raise_field_type(const Path& path, const char* wanted, py::handle got);
[[noreturn]] void raise_field_range(const Path& path, const std::string& problem);

std::uint64_t unsigned_from(py::handle object, std::uint64_t most, const Path& path);
std::int64_t signed_from(py::handle object, std::int64_t least, std::int64_t most,
                         const Path& path);
/// Octets of bytes-like objects, kept in the arena.
View octets_from(py::handle object, const Path& path, Arena& arena);
/// Text as UTF-8; undecodable octets travel as surrogates both ways, so that nothing is lost.
std::string_view text_from(py::handle object, const Path& path, Arena& arena);
py::object text_to(std::string_view text);

/// The attribute of a field. "from" of RENAME is the one RFC name that Python keeps for itself;
/// making a class refuses any other.
inline std::string attribute_name(std::string_view field) {
  return field == "from" ? "from_" : std::string(field);
}

/// The list of a struct's fields: its own, or a specialisation's for a struct that has none.
template <class T>
struct FieldsOf {
  static constexpr const auto& kFields = T::kFields;
};

/// The Python classes of the engine's structs and enumerations, by C++ type.
class DataClasses {
 public:
  /// Makes a data class named `name` in `module`; a type that has one already gets a second name.
  template <class T>
  void add(const py::module_& module, const std::string& name, const char* doc) {
    if constexpr (!std::is_same_v<T, rpc::Void>) {
      py::object& known = classes_[typeid(T)];
      if (!known) known = make_class<T>(module, name, doc);
      module.attr(name.c_str()) = known;
    }
  }

  /// Makes an IntEnum with the RFC's names; `exported` puts the names into the module too.
  template <class Enum>
  void add_enum(const py::module_& module, const char* name, const char* doc, bool exported) {
    py::list members;
    for (const auto& entry : names_of(Enum{})) {
      members.append(py::make_tuple(py::str(std::string(entry.name)),
                                    static_cast<std::uint32_t>(entry.value)));
    }
    const py::object made = make_enum(module, name, doc, members);
    classes_[typeid(Enum)] = made;
    module.attr(name) = made;
    if (!exported) return;
    for (const py::handle member : members) {
      const py::object key = member[py::int_(0)];
      py::setattr(module, key, made[key]);
    }
  }

  template <class T>
  py::object find() const {
    const auto found = classes_.find(typeid(T));
    return found == classes_.end() ? py::object() : found->second;
  }

  template <class T>
  py::object to(const T& value) const;
  /// Throws Python's TypeError or ValueError, which name the path.
  template <class T>
  void from(py::handle object, T& value, const Path& path, Arena& arena) const;

 private:
  template <class T>
  py::object make_class(const py::module_& module, const std::string& name, const char* doc) const;
  static py::object make_enum(const py::module_& module, const char* name, const char* doc,
                              const py::list& members);
  /// `fields` holds (name, default value) pairs.
  static py::object make_data_class(const py::module_& module, const std::string& name,
                                    const char* doc, const py::list& fields);

  std::unordered_map<std::type_index, py::object> classes_;
};

namespace detail {

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
py::object DataClasses::make_class(const py::module_& module, const std::string& name,
                                   const char* doc) const {
  py::list fields;
  const T defaults{};
  std::apply(
      [&](const auto&... field) {
        (fields.append(py::make_tuple(attribute_name(field.name), to(defaults.*field.member))),
         ...);
      },
      FieldsOf<T>::kFields);
  return make_data_class(module, name, doc, fields);
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
      const py::object type = classes.find<T>();
      const py::int_ number(static_cast<std::uint32_t>(value));
      if (!type || rpc::name(value).empty()) return number;
      return type(number);
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
      return struct_to(classes, value);
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
      struct_from(classes, object, value, path, arena);
    }
  }

 private:
  static py::object struct_to(const DataClasses& classes, const T& value) {
    return std::apply(
        [&](const auto&... field) { return classes.find<T>()(classes.to(value.*field.member)...); },
        FieldsOf<T>::kFields);
  }

  static void items_from(const DataClasses& classes, py::handle object, T& value, const Path& path,
                         Arena& arena) {
    if (!py::isinstance<py::sequence>(object)) raise_field_type(path, "a list", object);
    value.clear();
    std::size_t index = 0;
    for (const py::handle each : object) {
      const std::string name = std::to_string(index++);
      typename T::value_type item{};
      classes.from(each, item, Path{&path, name, true}, arena);
      if (!value.push_back(item)) {
        raise_field_range(path, "more than " + std::to_string(T::kMostItems) + " items");
      }
    }
  }

  static void struct_from(const DataClasses& classes, py::handle object, T& value, const Path& path,
                          Arena& arena) {
    const py::object type = classes.find<T>();
    if (!py::isinstance(object, type)) {
      raise_field_type(path, type.attr("__name__").cast<std::string>().c_str(), object);
    }
    std::apply(
        [&](const auto&... field) {
          (classes.from(object.attr(attribute_name(field.name).c_str()), value.*field.member,
                        Path{&path, field.name}, arena),
           ...);
        },
        FieldsOf<T>::kFields);
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
    const View octets = octets_from(object, path, arena);
    if (octets.size() != kSize) {
      raise_field_range(path, "not " + std::to_string(kSize) + " octets");
    }
    std::copy(octets.begin(), octets.end(), value.begin());
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
    if (!py::isinstance<py::sequence>(object)) raise_field_type(path, "a list", object);
    value.clear();
    std::size_t index = 0;
    for (const py::handle item : object) {
      const std::string name = std::to_string(index++);
      classes.from(item, value.emplace_back(), Path{&path, name, true}, arena);
    }
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

/// The classes that binding wire made and that later bindings add to.
std::shared_ptr<DataClasses> shared_classes();
/// Starts them; for bind_wire.
std::shared_ptr<DataClasses> start_shared_classes(const py::module_& wire_module);

}  // namespace steertag::bindings

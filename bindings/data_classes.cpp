// Conversions of scalars and octets, and creation of the Python classes.
#include "data_classes.h"

namespace steertag::bindings {

namespace {

/// The public name of "steertag._engine.nfs.nfs3": steertag.nfs.nfs3.
std::string public_name(const py::module_& module) {
  auto name = module.attr("__name__").cast<std::string>();
  constexpr std::string_view kPrivate = "_engine.";
  const std::size_t at = name.find(kPrivate);
  return at == std::string::npos ? name : name.erase(at, kPrivate.size());
}

/// The attribute of a field. "from" of RENAME is the only RFC name that is a Python keyword;
/// the first use of a class refuses any other.
py::str attribute_name(std::string_view field) {
  return field == "from" ? py::str("from_") : py::str(field.data(), field.size());
}

const std::byte* place_of(const void* value, const FieldRow& field) {
  return static_cast<const std::byte*>(value) + field.offset;
}

py::object make_enum(const py::module_& module, const char* name, const char* doc,
                     const py::list& members) {
  using py::literals::operator""_a;
  const py::object made =
      py::module_::import("enum").attr("IntEnum")(name, members, "module"_a = public_name(module));
  made.attr("__doc__") = doc;
  return made;
}

/// `fields` holds (name, default value) pairs.
py::object make_data_class(const py::module_& module, const std::string& name, const char* doc,
                           const py::list& fields) {
  return py::module_::import("steertag.data_class")
      .attr("make")(name, public_name(module), doc, fields);
}

}  // namespace

std::string Path::text() const {
  if (parent == nullptr) return std::string(name);
  return element ? parent->text() + "[" + std::string(name) + "]"
                 : parent->text() + "." + std::string(name);
}

void raise_field_type(const Path& path, const char* wanted, py::handle got) {
  throw py::type_error(path.text() + ": " + wanted + " expected, not " +
                       py::type::of(got).attr("__name__").cast<std::string>());
}

void raise_field_range(const Path& path, const std::string& problem) {
  throw py::value_error(path.text() + ": " + problem);
}

std::uint64_t unsigned_from(py::handle object, std::uint64_t most, const Path& path) {
  if (!py::isinstance<py::int_>(object)) raise_field_type(path, "int", object);
  const unsigned long long value = PyLong_AsUnsignedLongLong(object.ptr());
  const bool overflow = PyErr_Occurred() != nullptr;
  if (overflow) PyErr_Clear();
  if (overflow || value > most) {
    raise_field_range(
        path, py::str(object).cast<std::string>() + " is not in 0.." + std::to_string(most));
  }
  return value;
}

std::int64_t signed_from(py::handle object, std::int64_t least, std::int64_t most,
                         const Path& path) {
  if (!py::isinstance<py::int_>(object)) raise_field_type(path, "int", object);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0 || value < least || value > most) {
    raise_field_range(path, py::str(object).cast<std::string>() + " is not in " +
                                std::to_string(least) + ".." + std::to_string(most));
  }
  return value;
}

View octets_from(py::handle object, const Path& path, Arena& arena) {
  if (!py::isinstance<py::buffer>(object)) raise_field_type(path, "bytes", object);
  return arena.emplace_back(from_python(py::reinterpret_borrow<py::buffer>(object)));
}

std::string_view text_from(py::handle object, const Path& path, Arena& arena) {
  View octets;
  if (py::isinstance<py::str>(object)) {
    octets = octets_from(object.attr("encode")("utf-8", "surrogateescape"), path, arena);
  } else if (py::isinstance<py::buffer>(object)) {
    octets = octets_from(object, path, arena);
  } else {
    raise_field_type(path, "str or bytes", object);
  }
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

py::object text_to(std::string_view text) {
  PyObject* decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "surrogateescape");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(decoded);
}

namespace detail {

Items::Items(py::handle sequence, const Path& path) : place_{&path, {}, true} {
  if (!py::isinstance<py::sequence>(sequence)) raise_field_type(path, "a list", sequence);
  sequence_ = py::reinterpret_borrow<py::sequence>(sequence);
}

bool Items::next() {
  if (index_ >= sequence_.size()) return false;
  name_ = std::to_string(index_);
  place_.name = name_;
  item_ = sequence_[index_];
  ++index_;
  return true;
}

void fixed_octets_from(py::handle object, std::span<std::byte> value, const Path& path,
                       Arena& arena) {
  const View octets = octets_from(object, path, arena);
  if (octets.size() != value.size()) {
    raise_field_range(path, "not " + std::to_string(value.size()) + " octets");
  }
  std::copy(octets.begin(), octets.end(), value.begin());
}

}  // namespace detail

py::object DataClasses::find(const std::type_info& type) const {
  const auto found = classes_.find(type);
  return found == classes_.end() ? py::object() : found->second.type;
}

const DataClasses::Known& DataClasses::known(const std::type_info& type) const {
  const auto found = classes_.find(type);
  if (found == classes_.end()) throw py::type_error(std::string("no data class of ") + type.name());
  return found->second;
}

py::object DataClasses::enum_to(const std::type_info& type, std::uint32_t value) const {
  const py::int_ number(value);
  const auto found = classes_.find(type);
  if (found == classes_.end() || !found->second.numbers.contains(value)) return number;
  return found->second.type(number);
}

py::object DataClasses::struct_to(const std::type_info& type, const void* value) const {
  const Known& of = known(type);
  // Without the constructor, which Python makes at its first use: hundreds of classes have defaults
  // of others.
  auto* made_type = reinterpret_cast<PyTypeObject*>(of.type.ptr());
  const auto made =
      py::reinterpret_steal<py::object>(made_type->tp_new(made_type, py::tuple().ptr(), nullptr));
  if (!made) throw py::error_already_set();
  for (std::size_t i = 0; i < of.fields.size(); ++i) {
    const FieldRow& field = of.fields[i];
    py::setattr(made, of.attributes[i], field.type->to(*this, place_of(value, field)));
  }
  return made;
}

void DataClasses::struct_from(const std::type_info& type, py::handle object, void* value,
                              const Path& path, Arena& arena) const {
  const Known& of = known(type);
  if (!py::isinstance(object, of.type)) {
    raise_field_type(path, of.type.attr("__name__").cast<std::string>().c_str(), object);
  }
  for (std::size_t i = 0; i < of.fields.size(); ++i) {
    const FieldRow& field = of.fields[i];
    const py::object attribute = object.attr(of.attributes[i]);
    field.type->from(*this, attribute, static_cast<std::byte*>(value) + field.offset,
                     Path{&path, field.name}, arena);
  }
}

void DataClasses::add_enum(const std::type_info& type, const py::module_& module, const char* name,
                           const char* doc, const py::list& members, bool exported) {
  Known made;
  made.type = make_enum(module, name, doc, members);
  module.attr(name) = made.type;
  for (const py::handle member : members) {
    const py::object key = member[py::int_(0)];
    made.numbers.insert(py::object(member[py::int_(1)]).cast<std::uint32_t>());
    if (exported) py::setattr(module, key, made.type[key]);
  }
  classes_[type] = std::move(made);
}

void DataClasses::add_struct(const std::type_info& type, std::span<const FieldRow> fields,
                             const void* defaults, const py::module_& module,
                             const std::string& name, const char* doc) {
  Known& made = classes_[type];
  if (!made.type) {
    made.fields.assign(fields.begin(), fields.end());
    py::list declared;
    for (const FieldRow& field : fields) {
      made.attributes.push_back(attribute_name(field.name));
      declared.append(
          py::make_tuple(made.attributes.back(), field.type->to(*this, place_of(defaults, field))));
    }
    made.type = make_data_class(module, name, doc, declared);
  }
  module.attr(name.c_str()) = made.type;
}

std::shared_ptr<DataClasses> start_shared_classes(const py::module_& wire_module) {
  auto classes = std::make_shared<DataClasses>();
  auto held = std::make_unique<std::shared_ptr<DataClasses>>(classes);
  const py::capsule capsule(held.get(), [](void* pointer) {
    delete static_cast<std::shared_ptr<DataClasses>*>(pointer);
  });
  static_cast<void>(held.release());
  wire_module.attr("_data_classes") = capsule;
  return classes;
}

std::shared_ptr<DataClasses> shared_classes() {
  // This name is valid even during the import of the extension.
  const py::object wire = py::module_::import("sys").attr("modules")["steertag._engine.wire"];
  const auto capsule = wire.attr("_data_classes").cast<py::capsule>();
  return *capsule.get_pointer<std::shared_ptr<DataClasses>>();
}

}  // namespace steertag::bindings

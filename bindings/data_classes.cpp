// Conversions of scalars and octets, and the making of Python's classes.
#include "data_classes.h"

namespace steertag::bindings {

namespace {

/// "steertag._engine.nfs.nfs3" is what users know as steertag.nfs.nfs3.
std::string public_name(const py::module_& module) {
  auto name = module.attr("__name__").cast<std::string>();
  constexpr std::string_view kPrivate = "_engine.";
  const std::size_t at = name.find(kPrivate);
  return at == std::string::npos ? name : name.erase(at, kPrivate.size());
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

py::object DataClasses::make_enum(const py::module_& module, const char* name, const char* doc,
                                  const py::list& members) {
  using py::literals::operator""_a;
  const py::object made =
      py::module_::import("enum").attr("IntEnum")(name, members, "module"_a = public_name(module));
  made.attr("__doc__") = doc;
  return made;
}

py::object DataClasses::make_data_class(const py::module_& module, const std::string& name,
                                        const char* doc, const py::list& fields) {
  using py::literals::operator""_a;
  const py::module_ dataclasses = py::module_::import("dataclasses");
  py::list declared;
  for (const py::handle field : fields) {
    const py::object value = field[py::int_(1)];
    const bool shared =
        py::isinstance<py::list>(value) || py::hasattr(value, "__dataclass_fields__");
    // A mutable default has to be made anew for every instance.
    const py::object factory = py::type::of(value);
    const py::object spec = shared ? dataclasses.attr("field")("default_factory"_a = factory)
                                   : dataclasses.attr("field")("default"_a = value);
    const py::object type = value.is_none() ? py::module_::import("typing").attr("Any") : factory;
    declared.append(py::make_tuple(field[py::int_(0)], type, spec));
  }
  py::dict members("__module__"_a = public_name(module), "__doc__"_a = doc);
  const py::object base = py::module_::import("steertag.data_class").attr("DataClass");
  return dataclasses.attr("make_dataclass")(name, declared, "namespace"_a = members,
                                            "bases"_a = py::make_tuple(base), "slots"_a = true,
                                            "repr"_a = false, "eq"_a = false);
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
  // By this name also while the extension is being imported.
  const py::object wire = py::module_::import("sys").attr("modules")["steertag._engine.wire"];
  const auto capsule = wire.attr("_data_classes").cast<py::capsule>();
  return *capsule.get_pointer<std::shared_ptr<DataClasses>>();
}

}  // namespace steertag::bindings

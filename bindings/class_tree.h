// Adds the Python classes of a type and of all its members, under the types' own names.
// A protocol with hundreds of structs thus needs no list of them.
#pragma once

#include <memory>
#include <string>
#include <typeinfo>

#include "struct_codec.h"

namespace steertag::bindings {

class ClassTree {
 public:
  ClassTree(py::module_ module, std::shared_ptr<DataClasses> classes)
      : module_(std::move(module)), classes_(std::move(classes)) {}

  /// The class of T, after those of its fields. An existing class stays unchanged.
  template <class T>
  void add() {
    add<T>(own_name(typeid(T)));
  }

  /// The same with a chosen name. For an existing class it becomes a second name.
  template <class T>
  void add(const std::string& name) {
    if constexpr (requires { T::kFields; } && !std::is_same_v<T, rpc::Void>) {
      const bool known = static_cast<bool>(classes_->find<T>());
      if (!known) add_members<T>();
      classes_->add<T>(module_, name, "Field names are the RFC's.");
      if (!known) add_codec_methods<T>(classes_);
    }
  }

 private:
  /// The name without namespaces.
  static std::string own_name(const std::type_info& type);

  template <class T>
  void add_members() {
    T::kFields.for_each([&](const auto& field) { add_member(field); });
  }
  template <class Struct, class Member>
  void add_member(const rpc::Field<Struct, Member>&) {
    add_part(static_cast<const Member*>(nullptr));
  }

  // The parts of a member's type.
  template <class T>
  void add_part(const T*) {
    if constexpr (std::is_enum_v<T>) {
      if (!classes_->find<T>()) {
        classes_->add_enum<T>(module_, own_name(typeid(T)).c_str(), "Names are the RFC's.", true);
      }
    } else if constexpr (rpc::Bounded<T>) {
      add_part(static_cast<const typename T::value_type*>(nullptr));
    } else if constexpr (requires { T::kFields; }) {
      if (!classes_->find<T>()) add<T>();
    }
  }
  template <class T>
  void add_part(const std::optional<T>*) {
    add_part(static_cast<const T*>(nullptr));
  }
  template <class T>
  void add_part(const std::vector<T>*) {
    add_part(static_cast<const T*>(nullptr));
  }
  template <class T>
  void add_part(const rpc::Chain<T>*) {
    add_part(static_cast<const T*>(nullptr));
  }

 public:
  /// The classes of a value outside of structs.
  template <class T>
  void add_value_of() {
    add_part(static_cast<const T*>(nullptr));
  }

 private:
  py::module_ module_;
  std::shared_ptr<DataClasses> classes_;
};

}  // namespace steertag::bindings

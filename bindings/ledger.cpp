// Python's view of the ledger: rows by id.
#include "ledger/ledger.h"

#include "bind.h"
#include "ledger/unbroken.h"

namespace steertag::bindings {
namespace {

/// The words of a text, which are separated by single blanks.
py::tuple words(std::string_view text) {
  return py::tuple(py::str(text.data(), text.size()).attr("split")());
}

/// {side: why no deviation of this side breaks the requirement}.
py::dict unbroken(const ledger::Requirement& row) {
  py::dict reasons;
  if (const ledger::Unbroken* found = ledger::unbroken(row.id)) {
    if (!found->server.empty()) reasons["server"] = found->server;
    if (!found->client.empty()) reasons["client"] = found->client;
  }
  return reasons;
}

}  // namespace

void bind_ledger(py::module_& module) {
  using ledger::Exemption;
  using ledger::Requirement;
  module.doc() = "The ledger: every requirement that a verdict may name.";

  py::class_<Exemption>(module, "Exemption", "Why a requirement has no case.")
      .def_readonly("kind", &Exemption::kind)
      .def_readonly("role", &Exemption::role, "client or server, if only this side is exempt.")
      .def_property_readonly(
          "by", [](const Exemption& row) { return words(row.by); },
          "Ids of the requirements that replace this one.")
      .def_readonly("why", &Exemption::why);
  py::class_<Requirement>(module, "Requirement", "One requirement with its permanent id.")
      .def_readonly("id", &Requirement::id, "DOCUMENT-SECTION-n")
      .def_readonly("document", &Requirement::document)
      .def_readonly("section", &Requirement::section)
      .def_property_readonly(
          "level", [](const Requirement& row) { return ledger::name(row.level); },
          "The RFC 2119 word; DEF: normative without one.")
      .def_readonly("role", &Requirement::role, "The role that must comply.")
      .def_readonly("subject", &Requirement::subject)
      .def_readonly("statement", &Requirement::statement)
      .def_readonly("observable", &Requirement::observable, "What a violation looks like.")
      .def_readonly("test", &Requirement::test)
      .def_readonly("note", &Requirement::note, "A known conflict or deviation; may be empty.")
      .def_property_readonly(
          "exemption",
          [](const Requirement& row) {
            return row.exemption.kind.empty() ? nullptr : &row.exemption;
          },
          py::return_value_policy::reference, "Why no case covers it, or None.")
      .def_property_readonly("unbroken", &unbroken,
                             "{side: why no deviation of this side breaks the requirement}.")
      .def("__repr__",
           [](const Requirement& row) { return "<Requirement " + std::string(row.id) + ">"; });
  py::class_<ledger::Document>(module, "Document", "A document that the ledger quotes.")
      .def_readonly("name", &ledger::Document::name)
      .def_readonly("title", &ledger::Document::title);

  module.def(
      "find", [](std::string_view id) { return ledger::find(id); },
      py::return_value_policy::reference, py::arg("id"), "The requirement with this id, or None.");
  module.def(
      "requirements",
      [] {
        py::list rows;
        for (const Requirement& row : ledger::requirements()) {
          rows.append(py::cast(&row, py::return_value_policy::reference));
        }
        return rows;
      },
      "All requirements, sorted by id.");
  module.def(
      "documents",
      [] {
        py::list rows;
        for (const ledger::Document& row : ledger::documents()) {
          rows.append(py::cast(&row, py::return_value_policy::reference));
        }
        return rows;
      },
      "All documents, sorted by name.");
}

}  // namespace steertag::bindings

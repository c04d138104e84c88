// Python's view of the judge: findings of one connection, and the list of rules.
#include "conformance/judge.h"

#include "bind.h"

namespace steertag::bindings {
namespace {

using conformance::Finding;
using conformance::Judge;
using conformance::Rule;

void bind_values(py::module_& module) {
  py::class_<Rule>(module, "Rule", "What the judge looks at, and the requirement behind it.")
      .def_readonly("name", &Rule::name)
      .def_property_readonly(
          "requirement", [](const Rule& rule) { return rule.requirement.get(); },
          py::return_value_policy::reference)
      .def_readonly("sentence", &Rule::sentence, "What holds on a conforming connection.")
      .def("__repr__", [](const Rule& rule) {
        return "<Rule " + std::string(rule.name) + " " + std::string(rule.requirement.id()) + ">";
      });
  py::class_<Finding>(module, "Finding", "One requirement that one side of a connection broke.")
      .def_property_readonly(
          "requirement", [](const Finding& finding) { return finding.requirement; },
          py::return_value_policy::reference)
      .def_readonly("culprit", &Finding::culprit, "The Role that broke it.")
      .def_readonly("event", &Finding::event, "Index of the event that proves it.")
      .def_readonly("rule", &Finding::rule, "Name of the Rule in rules().")
      .def_readonly("expected", &Finding::expected, "What the requirement allows there.")
      .def_readonly("observed", &Finding::observed, "What was seen, with values.")
      .def("__repr__", [](const Finding& finding) {
        const bool client = finding.culprit == trace::Role::client;
        return "<Finding " + std::string(finding.requirement->id) + " by the " +
               (client ? "client" : "server") + " at event " + std::to_string(finding.event) +
               ": expected " + finding.expected + "; observed " + finding.observed + ">";
      });
}

}  // namespace

void bind_conformance(py::module_& module) {
  module.doc() = "The judge: events of one connection in, findings out.";
  bind_values(module);
  py::class_<Judge, trace::EventSink>(
      module, "Judge",
      "Judges both sides of one connection. Give it to the connection as an observer.")
      .def(py::init([](bool rdma_operations) {
             return std::make_unique<Judge>(conformance::Visibility{rdma_operations});
           }),
           py::kw_only(), py::arg("rdma_operations") = true,
           "`rdma_operations`: every RDMA Write and Read shows up as an event.")
      .def("lose_sight", &Judge::lose_sight,
           "From here on something passes that gives no events, such as raw octets.")
      .def_property_readonly(
          "findings", [](const Judge& judge) { return judge.findings(); },
          "The findings so far, in the order of events; a new list of copies.")
      .def_property_readonly("dropped_findings", &Judge::dropped_findings,
                             "Findings beyond the most that are kept.");
  module.def(
      "rules",
      [] {
        py::list rules;
        for (const Rule& rule : conformance::rules()) {
          rules.append(py::cast(&rule, py::return_value_policy::reference));
        }
        return rules;
      },
      "Every rule that the judge applies, family by family.");
  module.attr("MOST_FINDINGS") = conformance::kMostFindings;
}

}  // namespace steertag::bindings

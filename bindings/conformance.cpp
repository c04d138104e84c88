// Python's view of the judge: findings of one connection, and the list of rules.
#include "conformance/judge.h"

#include "bind.h"
#include "conformance/direct/direct_access.h"
#include "conformance/legacy/prototype_judge.h"
#include "conformance/legacy/rfc5666_judge.h"
#include "conformance/pnfs/layouts.h"

namespace steertag::bindings {
namespace {

using conformance::Finding;
using conformance::Judge;
using conformance::Rule;

void bind_values(py::module_& module) {
  py::class_<Rule>(module, "Rule", "A check of the judge, and the requirement that it enforces.")
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

py::list rule_list(std::span<const Rule> rules) {
  py::list list;
  for (const Rule& rule : rules) {
    list.append(py::cast(&rule, py::return_value_policy::reference));
  }
  return list;
}

/// A judge as an observer of connections, to which Python can also pass what it has made itself.
template <class AnyJudge>
struct PyJudge final : trace::EventSink {
  template <class... Settings>
  explicit PyJudge(Settings... settings) : judge(settings...) {}

  void on_event(const trace::Event& event) override {
    next = event.index + 1;
    judge.on_event(event);
  }
  void pass(trace::Role actor, const trace::Body& body) { on_event({next, 0, actor, body}); }

  AnyJudge judge;
  std::uint64_t next = 0;  // index of the connection's next event
};

template <class AnyJudge>
auto bind_judge(py::module_& module, const char* name, const char* doc) {
  using Bound = PyJudge<AnyJudge>;
  return py::class_<Bound, trace::EventSink>(module, name, doc)
      .def(
          "send",
          [](Bound& bound, trace::Role actor, const py::buffer& octets,
             std::optional<std::uint32_t> invalidated) {
            const Bytes bytes = from_python(octets);
            bound.pass(actor, trace::Send{bytes, invalidated});
          },
          py::arg("actor"), py::arg("octets"), py::arg("invalidated") = py::none(),
          "Judges a Send of this Role as the connection's next event. `invalidated`: the STag of a "
          "Send with Invalidate.")
      .def_property_readonly(
          "findings", [](const Bound& bound) { return bound.judge.findings(); },
          "The findings so far, in the order of events; a new list of copies.")
      .def_property_readonly(
          "dropped_findings", [](const Bound& bound) { return bound.judge.dropped_findings(); },
          "Findings beyond the most that are kept.");
}

template <class AnyJudge>
auto bind_legacy_judge(py::module_& module, const char* name, const char* doc) {
  return bind_judge<AnyJudge>(module, name, doc)
      .def_property_readonly(
          "forgotten_calls",
          [](const PyJudge<AnyJudge>& bound) { return bound.judge.forgotten_calls(); },
          "Calls evicted before their reply, because too many waited. Above zero, violations that "
          "depend on them may be missed.");
}

void bind_legacy(py::module_& module) {
  bind_legacy_judge<conformance::PrototypeJudge>(
      module, "PrototypeJudge",
      "Judges both sides of a connection of the prototype of 2003. The caller vouches for the "
      "dialect.")
      .def(py::init<std::uint32_t>(), py::kw_only(), py::arg("least_chunk_bytes") = 0,
           "`least_chunk_bytes`: the smallest item, in octets, that the system puts into chunks "
           "(default 1024).");
  bind_legacy_judge<conformance::Rfc5666Judge>(
      module, "Rfc5666Judge",
      "Judges both sides of a connection of RFC 5666. The caller vouches for the dialect.")
      .def(py::init<bool>(), py::kw_only(), py::arg("from_start") = false,
           "`from_start`: the first event is the connection's first message, so an unseen call is "
           "not waiting.");
  module.def(
      "legacy_rules", [] { return rule_list(conformance::legacy_rules()); },
      "Every rule of PrototypeJudge and Rfc5666Judge, family by family.");
}

}  // namespace

void bind_conformance(py::module_& module) {
  module.doc() = "The judge: events of one connection in, findings out.";
  bind_values(module);
  py::class_<conformance::DirectAccess>(
      module, "DirectAccess",
      "What the judges of all connections of one observer know of direct access.")
      .def(py::init<>());
  py::class_<conformance::Layouts>(
      module, "Layouts", "What the judges of all connections of one observer know of file layouts.")
      .def(py::init<>());
  using Bound = PyJudge<Judge>;
  bind_judge<Judge>(module, "Judge",
                    "Judges both sides of one connection. Give it to the connection as an "
                    "observer, or pass it the messages.")
      .def(py::init([](bool rdma_operations, conformance::DirectAccess* direct,
                       conformance::Layouts* layouts) {
             return std::make_unique<Bound>(conformance::Visibility{rdma_operations}, nullptr,
                                            direct, layouts);
           }),
           py::kw_only(), py::arg("rdma_operations") = true, py::arg("direct") = py::none(),
           py::arg("layouts") = py::none(), py::keep_alive<1, 3>(), py::keep_alive<1, 4>(),
           "`rdma_operations`: every RDMA Write and Read is an event. `direct`: a DirectAccess. "
           "`layouts`: Layouts.")
      .def(
          "connect",
          [](Bound& bound, const py::buffer& private_data) {
            const Bytes bytes = from_python(private_data);
            bound.pass(trace::Role::client, trace::Connect{bytes});
          },
          py::arg("private_data") = py::bytes(), "The client's connection request.")
      .def(
          "accept",
          [](Bound& bound, const py::buffer& private_data) {
            const Bytes bytes = from_python(private_data);
            bound.pass(trace::Role::server, trace::Accept{bytes});
          },
          py::arg("private_data") = py::bytes(), "The server's answer to it.")
      .def(
          "stop_observing", [](Bound& bound) { bound.judge.stop_observing(); },
          "From here on some traffic gives no events, such as raw octets.");
  module.def(
      "rules", [] { return rule_list(conformance::rules()); },
      "Every rule that the judge applies, family by family.");
  bind_legacy(module);
  module.attr("MOST_FINDINGS") = conformance::kMostFindings;
}

}  // namespace steertag::bindings

// Walks over COMPOUNDs to the DDP-eligible items.
#include "nfs/v4/binding.h"

#include <algorithm>
#include <array>

#include "nfs/v4/compound.h"

namespace steertag::nfs4 {

namespace {

using nfs::EligibleItem;
using nfs::ItemIn;
using nfs::ItemWalker;

constexpr std::array<BindingRow, 4> kTable{{
    {Opnum::OP_CREATE, ItemIn::argument, "linkdata"},
    {Opnum::OP_READ, ItemIn::result, "data"},
    {Opnum::OP_READLINK, ItemIn::result, "link"},
    {Opnum::OP_WRITE, ItemIn::argument, "data"},
}};

template <class T>
void skip(wire::Reader& reader) {
  T value{};
  value.decode(reader);
}

template <class IsReduced>
void take_write(ItemWalker& walk, const IsReduced& is_reduced) {
  wire::Reader& reader = walk.reader();
  skip<StateId>(reader);
  reader.u64("offset");
  reader.u32("stable");
  walk.take_item("data", is_reduced);
}

template <class IsReduced>
void take_create(ItemWalker& walk, const IsReduced& is_reduced) {
  wire::Reader& reader = walk.reader();
  const auto type = static_cast<FileType>(reader.u32("type"));
  if (type == FileType::NF4LNK) {
    walk.take_item("linkdata", is_reduced);
  } else if (type == FileType::NF4BLK || type == FileType::NF4CHR) {
    skip<SpecData>(reader);
  }
  reader.opaque(kMostNameOctets, "objname");
  skip<Fattr>(reader);
}

template <class IsReduced>
void take_result(ItemWalker& walk, Opnum number, const IsReduced& is_reduced) {
  wire::Reader& reader = walk.reader();
  const bool ok = reader.u32("status") == 0;
  if (!reader.ok()) return;
  if (!ok) return walk.take_absent();
  if (number == Opnum::OP_READ) {
    reader.boolean("eof");
    walk.take_item("data", is_reduced);
  } else {
    walk.take_item("link", is_reduced);
  }
}

/// The number of the operation that a walk has come to, at `at`, cannot be stepped over.
void stop(wire::Reader& reader, std::size_t at, std::string_view field) {
  reader.fail(wire::FaultCode::bad_enum, at, field);
}

}  // namespace

std::span<const BindingRow> binding_table() {
  return kTable;
}

ItemWalk eligible_arguments(wire::Reader& reader, std::span<const std::uint32_t> read_positions) {
  ItemWalker walk(reader);
  const auto is_reduced = [&](const EligibleItem& item) {
    return std::ranges::find(read_positions, item.position) != read_positions.end();
  };
  skip<CompoundArgs>(reader);
  OperationReader<Opnum> operations(reader, "argarray");
  while (const auto number = operations.next()) {
    const std::size_t at = reader.offset() - 4;
    if (*number == Opnum::OP_WRITE) {
      take_write(walk, is_reduced);
    } else if (*number == Opnum::OP_CREATE) {
      take_create(walk, is_reduced);
    } else if (!skip_arguments(reader, *number)) {
      stop(reader, at, "argop");
    }
  }
  return walk.finish();
}

ItemWalk eligible_results(wire::Reader& reader, std::span<const std::uint32_t> write_lengths) {
  ItemWalker walk(reader);
  const auto is_reduced = [&](const EligibleItem&) {
    const std::size_t chunk = walk.items();
    return chunk < write_lengths.size() && write_lengths[chunk] != 0;
  };
  skip<CompoundResult>(reader);
  OperationReader<Opnum> operations(reader, "resarray");
  while (const auto number = operations.next()) {
    const std::size_t at = reader.offset() - 4;
    if (*number == Opnum::OP_READ || *number == Opnum::OP_READLINK) {
      take_result(walk, *number, is_reduced);
    } else if (!skip_result(reader, *number)) {
      stop(reader, at, "resop");
    }
  }
  return walk.finish();
}

}  // namespace steertag::nfs4

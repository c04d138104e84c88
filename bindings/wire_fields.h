// The fields of the structs of engine/wire, in the order of Python's arguments, for data_classes.h.
#pragma once

#include <array>

#include "data_classes.h"
#include "wire/draft.h"
#include "wire/header.h"
#include "wire/legacy/prototype.h"
#include "wire/private_data.h"

namespace steertag::wire {

// Here, because data classes find the names of an enumeration beside it.
inline constexpr std::array kProcedureNames{
    rpc::Named{Procedure::msg, "MSG"}, rpc::Named{Procedure::nomsg, "NOMSG"},
    rpc::Named{Procedure::msgp, "MSGP"}, rpc::Named{Procedure::done, "DONE"},
    rpc::Named{Procedure::error, "ERROR"}};
constexpr const auto& names_of(Procedure /*type*/) {
  return kProcedureNames;
}
inline constexpr std::array kErrorCodeNames{rpc::Named{ErrorCode::vers, "VERS"},
                                            rpc::Named{ErrorCode::chunk, "CHUNK"}};
constexpr const auto& names_of(ErrorCode /*type*/) {
  return kErrorCodeNames;
}
inline constexpr std::array kPrototypeTypeNames{rpc::Named{PrototypeType::message, "MESSAGE"},
                                                rpc::Named{PrototypeType::done, "DONE"}};
constexpr const auto& names_of(PrototypeType /*type*/) {
  return kPrototypeTypeNames;
}

}  // namespace steertag::wire

namespace steertag::bindings {

/// wire::Header as Python has it. The write list is a list of lists, and no reply chunk is None.
/// `extra` is empty where it is not on the wire.
struct HeaderFields {
  std::uint32_t xid = 0;
  std::uint32_t vers = wire::kVersion;
  std::uint32_t credit = 0;
  wire::Procedure proc = wire::Procedure::msg;
  std::vector<wire::ReadSegment> read_list;
  std::vector<std::vector<wire::Segment>> write_list;
  std::optional<std::vector<wire::Segment>> reply_chunk;
  std::uint32_t align = 0;
  std::uint32_t thresh = 0;
  wire::ErrorCode error = wire::ErrorCode::chunk;
  std::uint32_t vers_low = 0;
  std::uint32_t vers_high = 0;
  std::vector<std::uint32_t> extra;

  static constexpr auto kFields = Entries{
      rpc::Field{"xid", &HeaderFields::xid},
      rpc::Field{"vers", &HeaderFields::vers},
      rpc::Field{"credit", &HeaderFields::credit},
      rpc::Field{"proc", &HeaderFields::proc},
      rpc::Field{"read_list", &HeaderFields::read_list},
      rpc::Field{"write_list", &HeaderFields::write_list},
      rpc::Field{"reply_chunk", &HeaderFields::reply_chunk},
      rpc::Field{"align", &HeaderFields::align},
      rpc::Field{"thresh", &HeaderFields::thresh},
      rpc::Field{"error", &HeaderFields::error},
      rpc::Field{"vers_low", &HeaderFields::vers_low},
      rpc::Field{"vers_high", &HeaderFields::vers_high},
      rpc::Field{"extra", &HeaderFields::extra},
  };
};

template <>
struct FieldsOf<wire::Segment> {
  static constexpr auto kFields = Entries{
      rpc::Field{"handle", &wire::Segment::handle},
      rpc::Field{"length", &wire::Segment::length},
      rpc::Field{"offset", &wire::Segment::offset},
  };
};

template <>
struct FieldsOf<wire::ReadSegment> {
  static constexpr auto kFields = Entries{
      rpc::Field{"position", &wire::ReadSegment::position},
      rpc::Field{"target", &wire::ReadSegment::target},
  };
};

template <>
struct FieldsOf<wire::FixedWords> {
  static constexpr auto kFields = Entries{
      rpc::Field{"xid", &wire::FixedWords::xid},
      rpc::Field{"vers", &wire::FixedWords::vers},
      rpc::Field{"credit", &wire::FixedWords::credit},
      rpc::Field{"proc", &wire::FixedWords::proc},
  };
};

template <>
struct FieldsOf<wire::DraftReadEntry> {
  static constexpr auto kFields = Entries{
      rpc::Field{"segment", &wire::DraftReadEntry::segment},
      rpc::Field{"presence", &wire::DraftReadEntry::presence},
      rpc::Field{"omit_body", &wire::DraftReadEntry::omit_body},
  };
};

template <>
struct FieldsOf<wire::DraftChunk> {
  static constexpr auto kFields = Entries{
      rpc::Field{"segments", &wire::DraftChunk::segments},
      rpc::Field{"count", &wire::DraftChunk::count},
      rpc::Field{"presence", &wire::DraftChunk::presence},
      rpc::Field{"omit_body", &wire::DraftChunk::omit_body},
  };
};

template <>
struct FieldsOf<wire::Draft> {
  static constexpr auto kFields = Entries{
      rpc::Field{"xid", &wire::Draft::xid},
      rpc::Field{"vers", &wire::Draft::vers},
      rpc::Field{"credit", &wire::Draft::credit},
      rpc::Field{"proc", &wire::Draft::proc},
      rpc::Field{"align", &wire::Draft::align},
      rpc::Field{"thresh", &wire::Draft::thresh},
      rpc::Field{"error", &wire::Draft::error},
      rpc::Field{"vers_low", &wire::Draft::vers_low},
      rpc::Field{"vers_high", &wire::Draft::vers_high},
      rpc::Field{"read_list", &wire::Draft::read_list},
      rpc::Field{"read_list_end", &wire::Draft::read_list_end},
      rpc::Field{"write_list", &wire::Draft::write_list},
      rpc::Field{"write_list_end", &wire::Draft::write_list_end},
      rpc::Field{"reply_chunk", &wire::Draft::reply_chunk},
      rpc::Field{"reply_chunk_absent", &wire::Draft::reply_chunk_absent},
      rpc::Field{"payload", &wire::Draft::payload},
      rpc::Field{"cut_to", &wire::Draft::cut_to},
      rpc::Field{"append", &wire::Draft::append},
  };
};

template <>
struct FieldsOf<wire::PrototypeChunk> {
  static constexpr auto kFields = Entries{
      rpc::Field{"offset", &wire::PrototypeChunk::offset},
      rpc::Field{"length", &wire::PrototypeChunk::length},
      rpc::Field{"handle", &wire::PrototypeChunk::handle},
      rpc::Field{"address", &wire::PrototypeChunk::address},
  };
};

template <>
struct FieldsOf<wire::PrototypeHeader> {
  static constexpr auto kFields = Entries{
      rpc::Field{"xid", &wire::PrototypeHeader::xid},
      rpc::Field{"vers", &wire::PrototypeHeader::vers},
      rpc::Field{"type", &wire::PrototypeHeader::type},
      rpc::Field{"chunks", &wire::PrototypeHeader::chunks},
  };
};

template <>
struct FieldsOf<wire::FieldSpan> {
  static constexpr auto kFields = Entries{
      rpc::Field{"offset", &wire::FieldSpan::offset},
      rpc::Field{"length", &wire::FieldSpan::length},
      rpc::Field{"name", &wire::FieldSpan::name},
  };
};

template <>
struct FieldsOf<wire::PrivateData> {
  static constexpr auto kFields = Entries{
      rpc::Field{"remote_invalidation", &wire::PrivateData::remote_invalidation},
      rpc::Field{"send_bytes", &wire::PrivateData::send_bytes},
      rpc::Field{"receive_bytes", &wire::PrivateData::receive_bytes},
  };
};

template <>
struct FieldsOf<wire::PrivateDataDraft> {
  static constexpr auto kFields = Entries{
      rpc::Field{"identifier", &wire::PrivateDataDraft::identifier},
      rpc::Field{"version", &wire::PrivateDataDraft::version},
      rpc::Field{"flags", &wire::PrivateDataDraft::flags},
      rpc::Field{"send_size", &wire::PrivateDataDraft::send_size},
      rpc::Field{"receive_size", &wire::PrivateDataDraft::receive_size},
  };
};

template <>
struct FieldsOf<wire::FoundPrivateData> {
  static constexpr auto kFields = Entries{
      rpc::Field{"offset", &wire::FoundPrivateData::offset},
      rpc::Field{"data", &wire::FoundPrivateData::data},
      rpc::Field{"raw_flags", &wire::FoundPrivateData::raw_flags},
  };
};

template <>
struct FieldsOf<wire::Negotiated> {
  static constexpr auto kFields = Entries{
      rpc::Field{"to_server_bytes", &wire::Negotiated::to_server_bytes},
      rpc::Field{"to_client_bytes", &wire::Negotiated::to_client_bytes},
      rpc::Field{"remote_invalidation", &wire::Negotiated::remote_invalidation},
  };
};

}  // namespace steertag::bindings

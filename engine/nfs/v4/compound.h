// COMPOUND and CB_COMPOUND (RFC 7530 15.2, RFC 8881 16.2, 20), one operation at a time.
// A server can stop after any operation. A client can read as far as it understands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "nfs/v4/callbacks.h"
#include "nfs/v4/operations.h"
#include "support/bytes.h"
#include "wire/fault.h"
#include "wire/xdr.h"

namespace steertag::nfs4 {

/// Procedures of the program 100003 version 4 (RFC 8881 16), and of the callback program.
inline constexpr std::uint32_t NFSPROC4_NULL = 0;
inline constexpr std::uint32_t NFSPROC4_COMPOUND = 1;
inline constexpr std::uint32_t CB_NULL = 0;
inline constexpr std::uint32_t CB_COMPOUND = 1;

/// COMPOUND4args before its argarray. The tag points into the message.
struct CompoundArgs {
  std::string_view tag{};
  std::uint32_t minorversion = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"tag", &CompoundArgs::tag, kMostTagOctets},
                                          Field{"minorversion", &CompoundArgs::minorversion}};
};

/// CB_COMPOUND4args before its argarray.
struct CbCompoundArgs {
  std::string_view tag{};
  std::uint32_t minorversion = 0;
  std::uint32_t callback_ident = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"tag", &CbCompoundArgs::tag, kMostTagOctets},
                                          Field{"minorversion", &CbCompoundArgs::minorversion},
                                          Field{"callback_ident", &CbCompoundArgs::callback_ident}};
};

/// COMPOUND4res and CB_COMPOUND4res before their resarray.
struct CompoundResult {
  Status status = Status::NFS4_OK;
  std::string_view tag{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"status", &CompoundResult::status},
                                          Field{"tag", &CompoundResult::tag, kMostTagOctets}};
};

/// Walks over an argarray or resarray. `Number` is Opnum or CbOpnum. The caller decodes each
/// operation's arguments or result from the same reader (see with_signature) before it asks for the
/// next. Those of a number without a name have no known end. The walk must stop there.
template <class Number>
class OperationReader {
 public:
  /// Reads the count. More than `limit` is `limit_exceeded`: NFS4ERR_RESOURCE in minor version 0,
  /// NFS4ERR_TOO_MANY_OPS later. `array` is the RFC's name, argarray or resarray.
  OperationReader(wire::Reader& reader, std::string_view array, std::size_t limit = kMostOperations)
      : reader_(reader), array_(array) {
    const std::size_t at = reader.offset();
    count_ = reader.u32(array);
    if (reader.judges_values() && count_ > limit) {
      reader.fail(wire::FaultCode::limit_exceeded, at, array);
    }
  }

  /// Operations that the message announces.
  std::uint32_t count() const { return count_; }
  /// Operations that next() has given.
  std::uint32_t taken() const { return taken_; }

  /// The number of the next operation, known or not; nullopt at the end and after a fault.
  std::optional<Number> next() {
    if (!reader_.ok() || taken_ == count_) return std::nullopt;
    const auto number = static_cast<Number>(reader_.u32(array_));
    if (!reader_.ok()) return std::nullopt;
    ++taken_;
    return number;
  }

 private:
  wire::Reader& reader_;
  std::string_view array_;
  std::uint32_t count_ = 0;
  std::uint32_t taken_ = 0;
};

/// Appends an argarray to `out`, which ends with the encoded CompoundArgs or CbCompoundArgs. The
/// count is right after every operation.
template <class Number>
class CallWriter {
 public:
  explicit CallWriter(Bytes& out) : writer_(out), count_at_(out.size()) { writer_.u32(0); }

  template <class Args>
  void add(Number number, const Args& args) {
    writer_.u32(static_cast<std::uint32_t>(number));
    args.encode(writer_);
    writer_.patch_u32(count_at_, ++count_);
  }
  /// An operation without arguments.
  void add(Number number) { add(number, Void{}); }

  std::uint32_t count() const { return count_; }

 private:
  wire::Writer writer_;
  std::size_t count_at_;
  std::uint32_t count_ = 0;
};

/// Appends a COMPOUND4res or CB_COMPOUND4res to `out`. Status and count are right after every
/// operation: the status is that of the last result (RFC 8881 16.2.3).
template <class Number>
class ReplyWriter {
 public:
  ReplyWriter(Bytes& out, std::string_view tag) : out_(out), status_at_(out.size()) {
    wire::Writer writer(out_);
    CompoundResult{Status::NFS4_OK, tag}.encode(writer);
    count_at_ = out_.size();
    writer.u32(0);
    last_at_ = out_.size();
  }

  template <class Result>
  void add(Number number, const Result& result) {
    last_at_ = out_.size();
    last_ = number;
    wire::Writer writer(out_);
    writer.u32(static_cast<std::uint32_t>(number));
    result.encode(writer);
    writer.patch_u32(count_at_, ++count_);
    set_status(result.status);
  }
  /// A result that is no more than a status, in the form that the operation has for it.
  void add_status(Number number, Status status) {
    with_signature(number, [&]<class Args, class Result>(Signature<Args, Result>) {
      Result result{};
      result.status = status;
      add(number, result);
    });
  }
  /// Takes the last result back and puts the status in its place, such as NFS4ERR_REP_TOO_BIG when
  /// the reply has become too large. There must be one.
  void replace_last(Status status) {
    out_.resize(last_at_);
    --count_;
    add_status(last_, status);
  }
  /// The status of a COMPOUND that ends without a result, such as NFS4ERR_MINOR_VERS_MISMATCH.
  void set_status(Status status) {
    status_ = status;
    wire::Writer(out_).patch_u32(status_at_, static_cast<std::uint32_t>(status));
  }

  Status status() const { return status_; }
  std::uint32_t count() const { return count_; }
  /// Octets of the reply's results so far, COMPOUND4res from its status on.
  std::size_t size() const { return out_.size() - status_at_; }

 private:
  Bytes& out_;
  std::size_t status_at_;
  std::size_t count_at_ = 0;
  std::size_t last_at_ = 0;
  Number last_{};
  Status status_ = Status::NFS4_OK;
  std::uint32_t count_ = 0;
};

/// Decodes and drops the arguments, or the result, of an operation: for walks that look for others.
/// False for a number without a name, and when the reader has a fault.
bool skip_arguments(wire::Reader& reader, Opnum number);
bool skip_result(wire::Reader& reader, Opnum number);

/// The status that answers a COMPOUND whose arguments have this fault: NFS4ERR_BADXDR, or for too
/// many operations NFS4ERR_RESOURCE (minor version 0) or NFS4ERR_TOO_MANY_OPS.
Status status_of(const wire::Fault& fault, std::uint32_t minorversion);

}  // namespace steertag::nfs4

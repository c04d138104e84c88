// Creates under way, each a chain of calls.
#include "client/bench/create_bench.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "nfs/v4/attribute_codec.h"
#include "nfs/v4/attribute_numbers.h"

namespace steertag::peer {
namespace {

using nfs4::Opnum;
using Time = std::chrono::steady_clock::time_point;
using Done = Expected<void, FileError>;

constexpr std::uint32_t kMode = 0640;

std::string name_of(std::uint64_t number) {
  return "create-" + std::to_string(number);
}

/// The schedules of all places are stepped with the first's, as long as this lives.
class JoinedSchedules {
 public:
  explicit JoinedSchedules(std::span<const CreatePlace> places) : first_(*places[0].schedule) {
    for (const CreatePlace& place : places) {
      if (place.schedule == &first_ || std::ranges::count(joined_, place.schedule) > 0) continue;
      joined_.push_back(place.schedule);
      first_.join(*place.schedule);
    }
  }
  ~JoinedSchedules() {
    for (CallSchedule* const each : joined_) first_.leave(*each);
  }
  JoinedSchedules(const JoinedSchedules&) = delete;
  JoinedSchedules& operator=(const JoinedSchedules&) = delete;

  void step() { first_.step(kBenchStep); }

 private:
  CallSchedule& first_;
  std::vector<CallSchedule*> joined_;
};

/// The results of PUTFH and of one operation whose values do not matter.
Done take(Expected<CompoundReply, FileError>& reply, Opnum number) {
  if (!reply) return tl::unexpected(std::move(reply.error()));
  if (auto skipped = reply->skip(Opnum::OP_PUTFH); !skipped) return skipped;
  return reply->skip(number);
}

}  // namespace

/// One measurement. Its callbacks come before `go` returns, whatever happens.
struct CreateBench::Run {
  /// One file.
  struct Create {
    std::uint32_t process = 0;  // of those that create
    std::string name;
    Time begun{};
    std::size_t place = 0;
    RemoteHandle file;
    nfs4::StateId stateid{};
  };
  using CreateRef = std::shared_ptr<Create>;

  Run(CreateBench& its_bench, const CreateMeasurement& its_what)
      : bench(its_bench), what(its_what) {}

  CreateBench& bench;
  const CreateMeasurement& what;
  Time end{};       // no create begins after it, once there were enough
  Time last_end{};  // ... nor after this
  std::uint32_t under_way = 0;
  Measured measured{};
  std::optional<FileError> error;

  bool goes_on(Time now) const {
    if (error) return false;
    return now < end || (now < last_end && measured.calls < what.least_calls);
  }

  void begin(std::uint32_t process, Time now) {
    ++under_way;
    auto create = std::make_shared<Create>();
    create->process = process;
    create->name = name_of(bench.next_name_++);
    create->begun = now;
    look_up(create);
  }

  const CreatePlace& place_of(const CreateRef& create) const {
    return bench.places_[create->place];
  }

  /// Another file of the name would be in the way.
  void look_up(const CreateRef& create) {
    ClientCompound call;
    call.add_handle(place_of(create).directory);
    call.add(Opnum::OP_LOOKUP, nfs4::LookupArgs{create->name});
    send(create, std::move(call), [this, create](Expected<CompoundReply, FileError>& reply) {
      const Done found = take(reply, Opnum::OP_LOOKUP);
      const auto absent = static_cast<std::uint32_t>(nfs4::Status::NFS4ERR_NOENT);
      if (found)
        return fail({FileErrc::changed, "there is a file " + create->name + " already", 0, {}});
      if (found.error().code != FileErrc::refused || found.error().status != absent)
        return fail(found.error());
      open(create);
    });
  }

  void open(const CreateRef& create) {
    nfs4::OpenArgs args;
    args.share_access = nfs4::OPEN4_SHARE_ACCESS_BOTH | nfs4::OPEN4_SHARE_ACCESS_WANT_NO_DELEG;
    args.owner.clientid = place_of(create).session->client_id();
    args.owner.owner = std::as_bytes(std::span(&create->process, 1));
    args.openhow.opentype = nfs4::OpenType::OPEN4_CREATE;
    args.openhow.how.mode = nfs4::CreateMode::GUARDED4;
    args.claim.file = create->name;
    ClientCompound call;
    call.add_handle(place_of(create).directory);
    call.add(Opnum::OP_OPEN, args);
    call.add(Opnum::OP_GETFH);
    call.keep_reply();
    send(create, std::move(call), [this, create](Expected<CompoundReply, FileError>& reply) {
      if (!reply) return fail(reply.error());
      if (const auto skipped = reply->skip(Opnum::OP_PUTFH); !skipped) return fail(skipped.error());
      const auto opened = reply->next<nfs4::OpenResult>(Opnum::OP_OPEN);
      if (!opened) return fail(opened.error());
      const auto handle = reply->next<nfs4::GetfhResult>(Opnum::OP_GETFH);
      if (!handle) return fail(handle.error());
      create->stateid = opened->resok4.stateid;
      create->file = RemoteHandle(handle->resok4.object.view());
      set_mode(create);
    });
  }

  void set_mode(const CreateRef& create) {
    nfs4::Attributes wished;
    wished.mode = kMode;
    Bytes storage;
    nfs4::SetattrArgs args;
    args.obj_attributes = nfs4::fattr_of(wished, nfs4::Bitmap::of({nfs4::FATTR4_MODE}), storage);
    ClientCompound call;
    call.add_handle(create->file);
    call.add(Opnum::OP_SETATTR, args);
    send(create, std::move(call), [this, create](Expected<CompoundReply, FileError>& reply) {
      const Done set = take(reply, Opnum::OP_SETATTR);
      set ? close(create) : fail(set.error());
    });
  }

  void close(const CreateRef& create) {
    ClientCompound call;
    call.add_handle(create->file);
    call.add(Opnum::OP_CLOSE, nfs4::CloseArgs{0, create->stateid});
    call.keep_reply();
    send(create, std::move(call), [this, create](Expected<CompoundReply, FileError>& reply) {
      const Done closed = take(reply, Opnum::OP_CLOSE);
      if (!closed) return fail(closed.error());
      if (++create->place < what.places) return look_up(create);
      ended(create);
    });
  }

  template <class Take>
  void send(const CreateRef& create, ClientCompound call, Take take_reply) {
    place_of(create).session->call(
        std::move(call),
        [take_reply](Expected<CompoundReply, FileError> reply) { take_reply(reply); });
  }

  void fail(FileError its_error) {
    --under_way;
    if (!error) error = std::move(its_error);
  }

  void ended(const CreateRef& create) {
    --under_way;
    const Time now = bench.clock_();
    ++measured.calls;
    measured.times.add(now - create->begun);
    if (goes_on(now)) begin(create->process, now);
  }

  void go() {
    JoinedSchedules schedules(std::span(bench.places_).first(what.places));
    const ProcessorTime before = bench.processor_();
    const Time start = bench.clock_();
    end = start + std::min(what.duration, kLongestMeasurement);
    last_end = start + std::min(what.duration * kMostExtension, kLongestMeasurement);
    for (std::uint32_t process = 0; process < what.calls; ++process) begin(process, bench.clock_());
    while (under_way > 0) schedules.step();
    measured.elapsed = bench.clock_() - start;
    measured.processor = since(before, bench.processor_());
  }
};

Done CreateBench::remove_all(std::size_t places, std::uint64_t first) {
  for (const CreatePlace& place : std::span(places_).first(places)) {
    for (std::uint64_t number = first; number < next_name_; ++number) {
      const std::string name = name_of(number);
      ClientCompound call;
      call.add_handle(place.directory);
      call.add(Opnum::OP_REMOVE, nfs4::RemoveArgs{name});
      call.keep_reply();
      Done removed = place.session->wait(std::move(call), [](CompoundReply& reply) -> Done {
        if (auto skipped = reply.skip(Opnum::OP_PUTFH); !skipped) return skipped;
        return reply.skip(Opnum::OP_REMOVE);
      });
      if (!removed) return removed;
    }
  }
  return {};
}

Expected<Measured, FileError> CreateBench::measure(const CreateMeasurement& what) {
  CreateMeasurement possible = what;
  possible.places = std::clamp<std::size_t>(what.places, 1, places_.size());
  possible.calls = std::clamp(what.calls, 1U, kMostCreates);
  const std::uint64_t first = next_name_;
  Run run(*this, possible);
  run.go();
  if (run.error) return tl::unexpected(std::move(*run.error));
  if (auto removed = remove_all(possible.places, first); !removed)
    return tl::unexpected(std::move(removed.error()));
  return std::move(run.measured);
}

}  // namespace steertag::peer

// The families of deviations, a file each.
#pragma once

#include <span>

#include "deviations/deviation.h"

namespace steertag::deviations {

std::span<const Deviation> reply_header_family();
std::span<const Deviation> error_family();
std::span<const Deviation> session_argument_family();
std::span<const Deviation> session_result_family();
std::span<const Deviation> callback_family();
std::span<const Deviation> connection_family();
std::span<const Deviation> header_fault_family();
std::span<const Deviation> long_reply_family();
std::span<const Deviation> private_data_family();
std::span<const Deviation> rdma_write_family();
std::span<const Deviation> read_chunk_family();
std::span<const Deviation> reduction_family();
std::span<const Deviation> refusal_family();
std::span<const Deviation> returned_list_family();
std::span<const Deviation> rpc_message_family();
std::span<const Deviation> tcp_family();

}  // namespace steertag::deviations

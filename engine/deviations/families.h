// The families of deviations, a file each.
#pragma once

#include <span>

#include "deviations/deviation.h"

namespace steertag::deviations {

std::span<const Deviation> reply_header_family();
std::span<const Deviation> error_family();
std::span<const Deviation> session_argument_family();
std::span<const Deviation> session_callback_family();
std::span<const Deviation> session_channel_family();
std::span<const Deviation> session_connection_family();
std::span<const Deviation> session_lifetime_family();
std::span<const Deviation> session_result_family();
std::span<const Deviation> session_slot_family();
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
std::span<const Deviation> iwarp_family();

std::span<const Deviation> back_channel_family();
std::span<const Deviation> call_argument_family();
std::span<const Deviation> call_header_family();
std::span<const Deviation> call_result_family();
std::span<const Deviation> callback_answer_family();
std::span<const Deviation> credit_family();
std::span<const Deviation> discarded_reply_family();
std::span<const Deviation> memory_family();
std::span<const Deviation> rdma_error_family();
std::span<const Deviation> receive_family();
std::span<const Deviation> reply_check_family();
std::span<const Deviation> retransmission_family();
std::span<const Deviation> reverse_answer_family();
std::span<const Deviation> session_call_family();
std::span<const Deviation> threshold_family();

}  // namespace steertag::deviations

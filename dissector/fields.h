// The display filter fields steertag.* of everything that is shown.
//
// Their names are permanent; README.md has the table.
//
// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "dissector/epan.h"

namespace steertag::dissector {

/// The ids that Wireshark assigns at registration.
struct Fields {
  int connection = -1;
  int frame = -1;
  int sender = -1;

  int finding = -1;
  int finding_id = -1;
  int finding_level = -1;
  int finding_document = -1;
  int finding_section = -1;
  int finding_culprit = -1;
  int finding_statement = -1;
  int finding_expected = -1;
  int finding_observed = -1;
  int finding_frame = -1;
  int finding_connection = -1;
  int rule = -1;

  int opening = -1;
  int private_data = -1;
  int private_data_offset = -1;
  int private_data_flags = -1;
  int private_data_invalidation = -1;
  int private_data_send_size = -1;
  int private_data_receive_size = -1;
  int private_data_ticket = -1;
  int threshold_to_server = -1;
  int threshold_to_client = -1;
  int remote_invalidation = -1;

  int message = -1;
  int direction = -1;
  int length = -1;
  int xid = -1;
  int version = -1;
  int procedure = -1;
  int call_frame = -1;
  int answer_frame = -1;
  int response_time = -1;
  int credits_value = -1;
  int credits_requested = -1;
  int credits_granted = -1;
  int credits_in_flight = -1;
  int threshold = -1;
  int invalidated = -1;

  int chunk = -1;
  int chunk_position = -1;
  int chunk_handle = -1;
  int chunk_length = -1;
  int chunk_offset = -1;
  int chunks_not_shown = -1;

  int operation = -1;
  int operation_stag = -1;
  int operation_offset = -1;
  int operation_length = -1;

  int direct_procedure = -1;
  int direct_references = -1;
  int direct_fallback = -1;
  int block_state = -1;
  int block_file = -1;
  int block_offset = -1;
  int block_length = -1;
  int block_grant = -1;
  int block_request = -1;

  int loss = -1;
};

struct Subtrees {
  int frame = -1;
  int finding = -1;
  int opening = -1;
  int private_data = -1;
  int message = -1;
  int chunk = -1;
  int operation = -1;
  int block = -1;
  int loss = -1;
};

struct Experts {
  expert_field must = EI_INIT;
  expert_field should = EI_INIT;
  expert_field may = EI_INIT;
  expert_field stopped = EI_INIT;
};

extern Fields fields;
extern Subtrees subtrees;
extern Experts experts;

void register_fields(int protocol);

}  // namespace steertag::dissector

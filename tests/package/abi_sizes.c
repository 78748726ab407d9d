/*
 * Size and offsets of every public struct on 64-bit machines: changing one of these lines breaks the ABI. Written by
 * abi_sizes.sh.
 */
#include <twpa/twpa.h>

#if UINTPTR_MAX > 0xFFFFFFFF

#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)
/* No padding at the end, into which a new field could fall unseen. */
#define FULL(type, last) \
  _Static_assert(offsetof(type, last) + sizeof(((type *)0)->last) == sizeof(type), #type " has a hidden tail")

_Static_assert(sizeof(twpa_access_set_counters) == 176, "twpa_access_set_counters");
AT(twpa_access_set_counters, struct_size, 0);
AT(twpa_access_set_counters, changes, 8);
AT(twpa_access_set_counters, accesses, 16);
AT(twpa_access_set_counters, relations, 24);
AT(twpa_access_set_counters, barriers, 32);
AT(twpa_access_set_counters, bytes, 40);
AT(twpa_access_set_counters, fallbacks, 48);
FULL(twpa_access_set_counters, fallbacks);

_Static_assert(sizeof(twpa_record) == 40, "twpa_record");
AT(twpa_record, lsn, 0);
AT(twpa_record, end_lsn, 8);
AT(twpa_record, xid, 16);
AT(twpa_record, top_xid, 24);
AT(twpa_record, origin, 32);
AT(twpa_record, reserved, 36);
FULL(twpa_record, reserved);

_Static_assert(sizeof(twpa_change) == 160, "twpa_change");
AT(twpa_change, kind, 0);
AT(twpa_change, flags, 4);
AT(twpa_change, lsn, 8);
AT(twpa_change, xid, 16);
AT(twpa_change, origin, 24);
AT(twpa_change, locator, 28);
AT(twpa_change, old_row, 40);
AT(twpa_change, new_row, 56);
AT(twpa_change, relations, 72);
AT(twpa_change, nrelations, 80);
AT(twpa_change, prefix, 88);
AT(twpa_change, content, 104);
AT(twpa_change, toast_relation, 120);
AT(twpa_change, toast_value, 128);
AT(twpa_change, toast_sequence, 136);
AT(twpa_change, command_id, 140);
AT(twpa_change, reserved, 144);
FULL(twpa_change, reserved);

_Static_assert(sizeof(twpa_commit) == 48, "twpa_commit");
AT(twpa_commit, subxids, 0);
AT(twpa_commit, nsubxids, 8);
AT(twpa_commit, time, 16);
AT(twpa_commit, origin_lsn, 24);
AT(twpa_commit, reserved, 32);
FULL(twpa_commit, reserved);

_Static_assert(sizeof(twpa_running_xacts) == 56, "twpa_running_xacts");
AT(twpa_running_xacts, next_xid, 0);
AT(twpa_running_xacts, oldest_running_xid, 8);
AT(twpa_running_xacts, latest_completed_xid, 16);
AT(twpa_running_xacts, xids, 24);
AT(twpa_running_xacts, nxids, 32);
AT(twpa_running_xacts, nsubxids, 40);
AT(twpa_running_xacts, subxids_overflow, 48);
AT(twpa_running_xacts, reserved, 52);
FULL(twpa_running_xacts, reserved);

_Static_assert(sizeof(twpa_new_cid) == 40, "twpa_new_cid");
AT(twpa_new_cid, top_xid, 0);
AT(twpa_new_cid, locator, 8);
AT(twpa_new_cid, tid, 20);
AT(twpa_new_cid, cmin, 28);
AT(twpa_new_cid, cmax, 32);
AT(twpa_new_cid, combo_cid, 36);
FULL(twpa_new_cid, combo_cid);

_Static_assert(sizeof(twpa_file_spill_options) == 24, "twpa_file_spill_options");
AT(twpa_file_spill_options, struct_size, 0);
AT(twpa_file_spill_options, directory, 8);
AT(twpa_file_spill_options, open_files, 16);
AT(twpa_file_spill_options, reserved, 20);
FULL(twpa_file_spill_options, reserved);

_Static_assert(sizeof(twpa_value) == 24, "twpa_value");
AT(twpa_value, cls, 0);
AT(twpa_value, state, 4);
AT(twpa_value, bytes, 8);
FULL(twpa_value, bytes);

_Static_assert(sizeof(twpa_keyer) == 48, "twpa_keyer");
AT(twpa_keyer, opaque, 0);
FULL(twpa_keyer, opaque);

_Static_assert(sizeof(twpa_output) == 176, "twpa_output");
AT(twpa_output, struct_size, 0);
AT(twpa_output, begin, 8);
AT(twpa_output, change, 16);
AT(twpa_output, truncate, 24);
AT(twpa_output, message, 32);
AT(twpa_output, commit, 40);
AT(twpa_output, filter_prepare, 48);
AT(twpa_output, begin_prepare, 56);
AT(twpa_output, prepare, 64);
AT(twpa_output, commit_prepared, 72);
AT(twpa_output, rollback_prepared, 80);
AT(twpa_output, stream_start, 88);
AT(twpa_output, stream_stop, 96);
AT(twpa_output, stream_change, 104);
AT(twpa_output, stream_truncate, 112);
AT(twpa_output, stream_message, 120);
AT(twpa_output, stream_abort, 128);
AT(twpa_output, stream_prepare, 136);
AT(twpa_output, stream_commit, 144);
AT(twpa_output, filter_origin, 152);
AT(twpa_output, update_progress, 160);
AT(twpa_output, take, 168);
FULL(twpa_output, take);

_Static_assert(sizeof(twpa_plan_options) == 104, "twpa_plan_options");
AT(twpa_plan_options, struct_size, 0);
AT(twpa_plan_options, seed, 8);
AT(twpa_plan_options, table_bytes, 16);
AT(twpa_plan_options, wide_bytes, 24);
AT(twpa_plan_options, memory_bytes, 32);
AT(twpa_plan_options, max_transactions, 40);
AT(twpa_plan_options, max_keys, 48);
AT(twpa_plan_options, max_bytes, 56);
AT(twpa_plan_options, txn_max_keys, 64);
AT(twpa_plan_options, unique_release, 72);
AT(twpa_plan_options, reference_release, 76);
AT(twpa_plan_options, foreign_keys, 80);
AT(twpa_plan_options, no_identity, 84);
AT(twpa_plan_options, parent_update, 88);
AT(twpa_plan_options, early_start, 92);
AT(twpa_plan_options, free_commit_order, 96);
AT(twpa_plan_options, explain, 100);
FULL(twpa_plan_options, explain);

_Static_assert(sizeof(twpa_edge) == 64, "twpa_edge");
AT(twpa_edge, from, 0);
AT(twpa_edge, to, 8);
AT(twpa_edge, type, 16);
AT(twpa_edge, flags, 20);
AT(twpa_edge, relation, 24);
AT(twpa_edge, index, 32);
AT(twpa_edge, key, 40);
AT(twpa_edge, kind, 48);
AT(twpa_edge, from_mode, 52);
AT(twpa_edge, to_mode, 56);
AT(twpa_edge, reserved, 60);
FULL(twpa_edge, reserved);

_Static_assert(sizeof(twpa_node) == 40, "twpa_node");
AT(twpa_node, seq, 0);
AT(twpa_node, end_lsn, 8);
AT(twpa_node, origin, 16);
AT(twpa_node, keys, 24);
AT(twpa_node, npredecessors, 32);
AT(twpa_node, state, 36);
FULL(twpa_node, state);

_Static_assert(sizeof(twpa_report) == 192, "twpa_report");
AT(twpa_report, struct_size, 0);
AT(twpa_report, low_watermark, 8);
AT(twpa_report, last, 16);
AT(twpa_report, ready, 24);
AT(twpa_report, waiting, 32);
AT(twpa_report, finished, 40);
AT(twpa_report, fallbacks, 48);
AT(twpa_report, fallback_count, 176);
AT(twpa_report, status, 184);
AT(twpa_report, reserved, 188);
FULL(twpa_report, reserved);

_Static_assert(sizeof(twpa_plan_counters) == 208, "twpa_plan_counters");
AT(twpa_plan_counters, struct_size, 0);
AT(twpa_plan_counters, transactions, 8);
AT(twpa_plan_counters, completed, 16);
AT(twpa_plan_counters, keys, 24);
AT(twpa_plan_counters, edges, 32);
AT(twpa_plan_counters, edges_by_type, 40);
AT(twpa_plan_counters, barriers, 104);
AT(twpa_plan_counters, hits, 112);
AT(twpa_plan_counters, evicted, 120);
AT(twpa_plan_counters, conservative, 128);
AT(twpa_plan_counters, joins, 136);
AT(twpa_plan_counters, memory_hits, 144);
AT(twpa_plan_counters, memory_misses, 152);
AT(twpa_plan_counters, optimistic, 160);
AT(twpa_plan_counters, retries, 168);
AT(twpa_plan_counters, live_transactions, 176);
AT(twpa_plan_counters, live_keys, 184);
AT(twpa_plan_counters, live_edges, 192);
AT(twpa_plan_counters, bytes, 200);
FULL(twpa_plan_counters, bytes);

_Static_assert(sizeof(twpa_progress_options) == 40, "twpa_progress_options");
AT(twpa_progress_options, struct_size, 0);
AT(twpa_progress_options, stream, 8);
AT(twpa_progress_options, start, 16);
AT(twpa_progress_options, span_max, 24);
AT(twpa_progress_options, save_bytes_max, 32);
FULL(twpa_progress_options, save_bytes_max);

_Static_assert(sizeof(twpa_progress_counters) == 64, "twpa_progress_counters");
AT(twpa_progress_counters, struct_size, 0);
AT(twpa_progress_counters, submitted, 8);
AT(twpa_progress_counters, done, 16);
AT(twpa_progress_counters, span, 24);
AT(twpa_progress_counters, runs, 32);
AT(twpa_progress_counters, save_bytes, 40);
AT(twpa_progress_counters, save_bytes_max, 48);
AT(twpa_progress_counters, bytes_live, 56);
FULL(twpa_progress_counters, bytes_live);

_Static_assert(sizeof(twpa_column_desc) == 8, "twpa_column_desc");
AT(twpa_column_desc, cls, 0);
AT(twpa_column_desc, flags, 4);
FULL(twpa_column_desc, flags);

_Static_assert(sizeof(twpa_index_desc) == 56, "twpa_index_desc");
AT(twpa_index_desc, id, 0);
AT(twpa_index_desc, columns, 8);
AT(twpa_index_desc, ncolumns, 16);
AT(twpa_index_desc, prefix_len, 24);
AT(twpa_index_desc, predicate_columns, 32);
AT(twpa_index_desc, npredicate_columns, 40);
AT(twpa_index_desc, flags, 48);
AT(twpa_index_desc, reserved, 52);
FULL(twpa_index_desc, reserved);

_Static_assert(sizeof(twpa_fk_desc) == 56, "twpa_fk_desc");
AT(twpa_fk_desc, id, 0);
AT(twpa_fk_desc, parent, 8);
AT(twpa_fk_desc, parent_index, 16);
AT(twpa_fk_desc, columns, 24);
AT(twpa_fk_desc, parent_classes, 32);
AT(twpa_fk_desc, ncolumns, 40);
AT(twpa_fk_desc, flags, 48);
AT(twpa_fk_desc, reserved, 52);
FULL(twpa_fk_desc, reserved);

_Static_assert(sizeof(twpa_reference_desc) == 24, "twpa_reference_desc");
AT(twpa_reference_desc, child, 0);
AT(twpa_reference_desc, index, 8);
AT(twpa_reference_desc, flags, 16);
AT(twpa_reference_desc, reserved, 20);
FULL(twpa_reference_desc, reserved);

_Static_assert(sizeof(twpa_relation_desc) == 136, "twpa_relation_desc");
AT(twpa_relation_desc, struct_size, 0);
AT(twpa_relation_desc, id, 8);
AT(twpa_relation_desc, root, 16);
AT(twpa_relation_desc, epoch, 24);
AT(twpa_relation_desc, name, 32);
AT(twpa_relation_desc, columns, 40);
AT(twpa_relation_desc, ncolumns, 48);
AT(twpa_relation_desc, indexes, 56);
AT(twpa_relation_desc, nindexes, 64);
AT(twpa_relation_desc, fks, 72);
AT(twpa_relation_desc, nfks, 80);
AT(twpa_relation_desc, references, 88);
AT(twpa_relation_desc, nreferences, 96);
AT(twpa_relation_desc, affects, 104);
AT(twpa_relation_desc, naffects, 112);
AT(twpa_relation_desc, identity_index, 120);
AT(twpa_relation_desc, identity, 128);
AT(twpa_relation_desc, flags, 132);
FULL(twpa_relation_desc, flags);

_Static_assert(sizeof(twpa_reorder_hooks) == 40, "twpa_reorder_hooks");
AT(twpa_reorder_hooks, struct_size, 0);
AT(twpa_reorder_hooks, user, 8);
AT(twpa_reorder_hooks, xid_status, 16);
AT(twpa_reorder_hooks, invalidate, 24);
AT(twpa_reorder_hooks, invalidate_all, 32);
FULL(twpa_reorder_hooks, invalidate_all);

_Static_assert(sizeof(twpa_reorder_options) == 72, "twpa_reorder_options");
AT(twpa_reorder_options, struct_size, 0);
AT(twpa_reorder_options, memory_bytes, 8);
AT(twpa_reorder_options, hooks, 16);
AT(twpa_reorder_options, storage, 24);
AT(twpa_reorder_options, streaming, 32);
AT(twpa_reorder_options, two_phase, 36);
AT(twpa_reorder_options, two_phase_at, 40);
AT(twpa_reorder_options, distributed_bytes, 48);
AT(twpa_reorder_options, tuplecids_max, 56);
AT(twpa_reorder_options, reserved, 64);
FULL(twpa_reorder_options, reserved);

_Static_assert(sizeof(twpa_reorder_counters) == 192, "twpa_reorder_counters");
AT(twpa_reorder_counters, struct_size, 0);
AT(twpa_reorder_counters, memory_bytes, 8);
AT(twpa_reorder_counters, total_bytes, 16);
AT(twpa_reorder_counters, storage_bytes, 24);
AT(twpa_reorder_counters, storage_files, 32);
AT(twpa_reorder_counters, storage_segments, 40);
AT(twpa_reorder_counters, open_tops, 48);
AT(twpa_reorder_counters, open_subs, 56);
AT(twpa_reorder_counters, taken, 64);
AT(twpa_reorder_counters, tuplecids, 72);
AT(twpa_reorder_counters, distributed_bytes, 80);
AT(twpa_reorder_counters, queued_changes, 88);
AT(twpa_reorder_counters, queued_bytes, 96);
AT(twpa_reorder_counters, delivered_txns, 104);
AT(twpa_reorder_counters, delivered_changes, 112);
AT(twpa_reorder_counters, aborted_txns, 120);
AT(twpa_reorder_counters, spilled_txns, 128);
AT(twpa_reorder_counters, spilled_blocks, 136);
AT(twpa_reorder_counters, spilled_bytes, 144);
AT(twpa_reorder_counters, restored_blocks, 152);
AT(twpa_reorder_counters, streamed_txns, 160);
AT(twpa_reorder_counters, streamed_blocks, 168);
AT(twpa_reorder_counters, limit_exceeded, 176);
AT(twpa_reorder_counters, toast_dropped, 184);
FULL(twpa_reorder_counters, toast_dropped);

_Static_assert(sizeof(twpa_wait) == 24, "twpa_wait");
AT(twpa_wait, waiter, 0);
AT(twpa_wait, holder, 8);
AT(twpa_wait, kind, 16);
AT(twpa_wait, reserved, 20);
FULL(twpa_wait, reserved);

_Static_assert(sizeof(twpa_scheduler_options) == 80, "twpa_scheduler_options");
AT(twpa_scheduler_options, struct_size, 0);
AT(twpa_scheduler_options, commit_order, 8);
AT(twpa_scheduler_options, reserved, 12);
AT(twpa_scheduler_options, running_max, 16);
AT(twpa_scheduler_options, open_max, 24);
AT(twpa_scheduler_options, window_max, 32);
AT(twpa_scheduler_options, retries_max, 40);
AT(twpa_scheduler_options, progress, 48);
AT(twpa_scheduler_options, recording, 56);
AT(twpa_scheduler_options, on_wait, 64);
AT(twpa_scheduler_options, user, 72);
FULL(twpa_scheduler_options, user);

_Static_assert(sizeof(twpa_scheduler_counters) == 200, "twpa_scheduler_counters");
AT(twpa_scheduler_counters, struct_size, 0);
AT(twpa_scheduler_counters, submitted, 8);
AT(twpa_scheduler_counters, committed, 16);
AT(twpa_scheduler_counters, skipped, 24);
AT(twpa_scheduler_counters, low_watermark, 32);
AT(twpa_scheduler_counters, newest, 40);
AT(twpa_scheduler_counters, stopped_before, 48);
AT(twpa_scheduler_counters, waiting, 56);
AT(twpa_scheduler_counters, ready, 64);
AT(twpa_scheduler_counters, running, 72);
AT(twpa_scheduler_counters, open, 80);
AT(twpa_scheduler_counters, running_high, 88);
AT(twpa_scheduler_counters, open_high, 96);
AT(twpa_scheduler_counters, starts, 104);
AT(twpa_scheduler_counters, early, 112);
AT(twpa_scheduler_counters, conflicts, 120);
AT(twpa_scheduler_counters, errors, 128);
AT(twpa_scheduler_counters, cancels, 136);
AT(twpa_scheduler_counters, retries, 144);
AT(twpa_scheduler_counters, alone, 152);
AT(twpa_scheduler_counters, rollbacks, 160);
AT(twpa_scheduler_counters, held_running, 168);
AT(twpa_scheduler_counters, held_open, 176);
AT(twpa_scheduler_counters, turn_waits, 184);
AT(twpa_scheduler_counters, bytes_live, 192);
FULL(twpa_scheduler_counters, bytes_live);

_Static_assert(sizeof(twpa_simulation_options) == 40, "twpa_simulation_options");
AT(twpa_simulation_options, struct_size, 0);
AT(twpa_simulation_options, running_max, 8);
AT(twpa_simulation_options, open_max, 16);
AT(twpa_simulation_options, window_max, 24);
AT(twpa_simulation_options, commit_order, 32);
AT(twpa_simulation_options, early_start, 36);
FULL(twpa_simulation_options, early_start);

_Static_assert(sizeof(twpa_simulation) == 112, "twpa_simulation");
AT(twpa_simulation, struct_size, 0);
AT(twpa_simulation, transactions, 8);
AT(twpa_simulation, edges, 16);
AT(twpa_simulation, work, 24);
AT(twpa_simulation, critical_path, 32);
AT(twpa_simulation, makespan, 40);
AT(twpa_simulation, running_high, 48);
AT(twpa_simulation, open_high, 56);
AT(twpa_simulation, bound, 64);
FULL(twpa_simulation, bound);

_Static_assert(sizeof(twpa_simulated) == 48, "twpa_simulated");
AT(twpa_simulated, ready_at, 0);
AT(twpa_simulated, started_at, 8);
AT(twpa_simulated, executed_at, 16);
AT(twpa_simulated, turn_at, 24);
AT(twpa_simulated, committed_at, 32);
AT(twpa_simulated, worker, 40);
FULL(twpa_simulated, worker);

_Static_assert(sizeof(twpa_storage) == 40, "twpa_storage");
AT(twpa_storage, struct_size, 0);
AT(twpa_storage, user, 8);
AT(twpa_storage, write, 16);
AT(twpa_storage, read, 24);
AT(twpa_storage, remove, 32);
FULL(twpa_storage, remove);

_Static_assert(sizeof(twpa_locator) == 12, "twpa_locator");
AT(twpa_locator, space, 0);
AT(twpa_locator, database, 4);
AT(twpa_locator, file, 8);
FULL(twpa_locator, file);

_Static_assert(sizeof(twpa_tid) == 8, "twpa_tid");
AT(twpa_tid, block, 0);
AT(twpa_tid, line, 4);
AT(twpa_tid, reserved, 6);
FULL(twpa_tid, reserved);

_Static_assert(sizeof(twpa_bytes) == 16, "twpa_bytes");
AT(twpa_bytes, data, 0);
AT(twpa_bytes, len, 8);
FULL(twpa_bytes, len);

_Static_assert(sizeof(twpa_allocator) == 32, "twpa_allocator");
AT(twpa_allocator, user, 0);
AT(twpa_allocator, alloc, 8);
AT(twpa_allocator, resize, 16);
AT(twpa_allocator, release, 24);
FULL(twpa_allocator, release);

#endif

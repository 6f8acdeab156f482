/* Every diagnostic of compute-units §11 and noc-and-memory §6.12, §12.1, each once: id, class, what it means, the rule
 * it breaks. docs/hazards.md is made from this list and from the programs in tests/hazards/.
 *
 * S(id, class, sentence, rule): shown by the program tests/hazards/<id>.fs.
 * N(id, class, sentence, rule, why): not reachable by a program on a shipped machine, and why. */
#pragma once

#define HAZARD_LIST(S, N)                                                                                              \
    S("cluster.fill_count", "hang", "A FILL of 256 entries or more asks for n mod 256 and waits for n with an eight-bit count.", "compute-units §2.2") \
    S("cluster.fill_wraps", "hazard", "A FILL past entry 255 goes on at entry 0 of the same bank.", "compute-units §2.2") \
    S("cluster.l1_offset_wraps", "hazard", "A sweep past entry 255 of a bank reads on from its entry 0.", "compute-units §2.2") \
    S("cluster.tile_wraps", "hazard", "A tile larger than the resident tile puts two sub-tiles in one place.", "compute-units §2.2") \
    S("cluster.drain_wraps", "hazard", "A DRAIN longer than the resident tile drains its start again.", "compute-units §2.2") \
    S("cluster.fill_under_sweep", "hazard", "An entry is overwritten while the running sweep still has to read it.", "compute-units §3.10") \
    S("cluster.entry_mixed", "hazard", "Words of two entries meet in the one assembly register.", "compute-units §3.3") \
    S("cluster.l1_unwritten", "hazard", "A sweep reads an entry that was never written.", "compute-units §11") \
    S("cluster.shared_fill_side", "hazard", "A shared entry arrives during a FILL of the other side or bank and lands there.", "compute-units §10.2") \
    S("cluster.peer_self", "hang", "A shared FILL names its own node as a peer, so nobody asks memory.", "compute-units §2.2") \
    S("cluster.response_held", "count", "A read response waits because no FILL runs, and blocks everything behind it.", "compute-units §3.2") \
    S("cluster.emit_opens_tile", "hang", "A sweep of one K block opens and emits a sub-tile at once: nothing is handed out.", "compute-units §3.11") \
    S("cluster.fused_count", "hazard", "A fused DRAIN names another number of sub-tiles than its sweep hands out.", "compute-units §3.7") \
    S("cluster.fused_dest", "hazard", "A DRAIN overwrites the destination of results that are still on their way.", "compute-units §3.8") \
    S("cluster.emit_redirects", "hazard", "An emitting GEMM that waits redirects the results of the batch before it.", "compute-units §3.8") \
    S("cluster.fused_peer_format", "hazard", "An emitting GEMM sends FP16 words into an accumulator buffer.", "compute-units §3.7") \
    S("cluster.drain_over_fused", "hazard", "A plain DRAIN starts over a fused batch and zeroes its counters.", "compute-units §3.7") \
    S("cluster.drain_type", "hazard", "FP16 results are drained into a cluster's operand buffer, which reads int7 and E5M3.", "compute-units §4.3") \
    S("cluster.peer_half", "hazard", "A burst into the resident tile ends on a low half that is never used.", "compute-units §4.1") \
    S("cluster.peer_blocks_fill", "count", "A peer stream that waits holds up the responses of a FILL.", "compute-units §4.4") \
    S("cluster.self_peer", "hazard", "A cluster sends a resident tile to itself.", "compute-units §4.4") \
    S("deadlock.self_peer", "deadlock", "A self-addressed stream waits for its own drain, which waits for its flits to be taken.", "compute-units §4.4") \
    S("deadlock.mutual_peer", "deadlock", "Two clusters send resident tiles to each other, both with running drains.", "compute-units §4.4") \
    S("deadlock.write_slots", "deadlock", "All write slots wait for words that stand behind the next request.", "noc-and-memory §12.2") \
    S("deadlock.overseeded", "deadlock", "An instruction waits for flits that stand behind instructions on the same link.", "noc-and-memory §12.2") \
    S("deadlock.receive_queue", "deadlock", "A unit never takes what stands at the head of its receive queue.", "noc-and-memory §12.2") \
    S("cudata.rejected", "fault", "A burst outside its buffer, into an unknown one, or on an odd granule of the tile.", "compute-units §4.1") \
    S("cudata.interleaved", "hazard", "Data flits of two bursts are spliced into one.", "compute-units §4.1") \
    S("cudata.last_mismatch", "hazard", "`last` of a data flit disagrees with the announced length.", "noc-and-memory §4.6") \
    N("cudata.reserved_buf", "hazard", "A unit claims buffer 3.", "noc-and-memory §12.1", "no shipped unit publishes a fourth buffer; a burst into it is cudata.rejected") \
    S("flit.unknown_type", "count", "A flit that no unit knows is popped and dropped.", "compute-units §4.1") \
    S("flit.bad_type", "hazard", "A flit of a type that is not allocated is sent.", "noc-and-memory §12.1") \
    S("flit.reserved", "hazard", "Reserved header bits are not 0.", "noc-and-memory §12.1") \
    S("flit.bad_src", "hazard", "A flit carries another coordinate than its sender's.", "noc-and-memory §12.1") \
    S("acc.reuse", "hazard", "Two commands to one tile address are less than five cycles apart.", "compute-units §3.4") \
    S("acc.unopened_tile", "hazard", "A sub-tile is used that no LOAD has opened since reset.", "compute-units §4.4") \
    S("acc.exponent_wrap", "hazard", "An anchor far from 40 makes an exponent wrap.", "compute-units §5.3") \
    S("unit.wrong_kind", "information", "An instruction written for one kind of unit is executed by another.", "compute-units §2.3") \
    N("build.l1_bank", "build error", "A third operand bank cannot be named by an instruction.", "compute-units §1.2", "refused when the machine is read") \
    N("link.withdrawn", "error", "An offered flit is changed or taken back before it is accepted.", "noc-and-memory §12.1", "an output register keeps its flit until the receiver has taken it") \
    N("link.duplicate", "error", "A flit is accepted twice.", "noc-and-memory §12.1", "a flit is one record of the pool, which is in one place at a time") \
    N("net.leak", "error", "Flits made are not flits delivered, held or counted as lost.", "noc-and-memory §12.1", "conservation: found by the self-check after a run") \
    N("net.reorder", "error", "Two flits of one source overtake each other on the way to one destination.", "noc-and-memory §12.1", "x-then-y routing through queues keeps their order") \
    S("route.illegal_dst", "error", "A flit names a place where no endpoint can be.", "noc-and-memory §12.1") \
    S("route.sink", "error", "A flit leaves by a side with nothing attached and is lost.", "noc-and-memory §12.1") \
    N("route.illegal_turn", "error", "A flit wants a turn that the crossbar omits.", "noc-and-memory §3.4", "only a wrong grid bound makes one; grid bounds come from the map") \
    N("cu.done_with_accept", "error", "A unit retires in the cycle in which it takes an instruction.", "noc-and-memory §4.3", "the shipped units never do; a plug-in may") \
    N("cu.spurious_done", "error", "A unit retires with nothing in flight.", "noc-and-memory §4.3", "the shipped units never do; a plug-in may") \
    N("cu.forged_signal", "error", "A unit sends a completion code itself.", "noc-and-memory §12.1", "the shipped units never do; a plug-in may") \
    N("cu.signal_balance", "error", "Accepted, retired and signalled instructions differ at the end.", "noc-and-memory §12.1", "conservation: found by the self-check after a run") \
    N("cu.unknown_type_held", "error", "A flit of unknown type is held instead of dropped.", "noc-and-memory §12.1", "the shipped units drop it (flit.unknown_type)") \
    S("ctrl.lost", "hazard", "A control request comes while a reply is pending and is never answered.", "noc-and-memory §4.2") \
    S("ctrl.poll_forever", "deadlock", "The control program polls for what never comes; only reset ends it.", "noc-and-memory §12.2") \
    S("dispatch.overseeded", "hazard", "More credit is seeded than an instruction queue holds.", "noc-and-memory §5.5") \
    S("dispatch.credit_starved", "deadlock", "Credit is used up and no completion can come that returns one.", "noc-and-memory §5.5") \
    N("dispatch.credit_balance", "error", "Credit is not what was seeded, less pushed, plus completions.", "noc-and-memory §12.1", "conservation: found by the self-check after a run") \
    S("dispatch.kick_lost", "hazard", "A KICK while a program is being dispatched, or of length 0, is ignored.", "noc-and-memory §5.4") \
    S("dispatch.dst_changed_while_running", "hazard", "Destination or length are rewritten while a program is being dispatched.", "noc-and-memory §5.4") \
    S("dispatch.stage_overrun", "error", "A program runs past the staging slots.", "noc-and-memory §5.4") \
    S("dispatch.no_last", "hazard", "The final flit of a program lacks `last`: no batch completion will come.", "noc-and-memory §12.1") \
    S("agent.mailbox_drop", "hazard", "A flit for the full mailbox is accepted and dropped.", "noc-and-memory §5.7") \
    S("wr.two_open", "error", "A source opens a second write while its first is incomplete.", "noc-and-memory §6.8") \
    S("wr.orphan_data", "error", "A write word belongs to no open write and wedges the queue.", "noc-and-memory §6.8") \
    S("wr.short", "deadlock", "A write never gets all its words.", "noc-and-memory §12.2") \
    S("wr.last_mismatch", "error", "`last` of a write word disagrees with the announced length.", "noc-and-memory §12.1") \
    S("wr.len", "error", "A write announces more words than a slot holds.", "noc-and-memory §6.8") \
    N("wr.slots_undersized", "warning", "Fewer write slots than two for every node that writes through the port.", "noc-and-memory §12.1", "a warning of `flitsim check`, when the machine is read") \
    N("wr.no_slot", "statistic", "Cycles with no free write slot.", "noc-and-memory §6.8", "a counter of the port: no_slot_cycles") \
    N("wr.ack_balance", "error", "A burst is not acknowledged exactly once.", "noc-and-memory §12.1", "conservation: found by the self-check after a run") \
    S("wr.starved", "hazard", "A complete write waits 8,192 cycles or more before it is issued.", "noc-and-memory §12.1") \
    N("rd.balance", "error", "Responses are not entries times words for every receiver.", "noc-and-memory §12.1", "conservation: found by the self-check after a run") \
    S("rd.tag_wrap", "error", "A run of entries passes tag 255: two entries share a tag.", "noc-and-memory §6.12") \
    N("rd.count_wrap", "hazard", "A fetch of 256 entries or more asks for n mod 256.", "noc-and-memory §4.7", "reported where it starts, as cluster.fill_count") \
    N("rd.blocked_output", "statistic", "Cycles in which the mesh refused the port's flit.", "noc-and-memory §6.12", "a counter of the port: refused_out") \
    S("mem.misaligned", "hazard", "An address is not a multiple of 32; its low five bits are ignored.", "noc-and-memory §6.12") \
    S("mem.page_cross", "hazard", "A burst crosses a 4 KB page.", "noc-and-memory §6.12") \
    S("mem.aperture_alias", "hazard", "An aperture that is not built is named and reaches DRAM.", "noc-and-memory §6.12") \
    S("mem.unserved_aperture", "hang", "An aperture that nothing serves: no response, no acknowledgement.", "noc-and-memory §6.12") \
    S("mem.foreign_mesh", "hazard", "An address of another mesh is served from local DRAM.", "noc-and-memory §6.12") \
    S("mem.beyond_dram", "hazard", "An address beyond the DRAM wraps.", "noc-and-memory §6.12") \
    S("mem.uninitialised", "hazard", "A word is read that was never written.", "noc-and-memory §6.12") \
    N("mem.bus_error", "hazard", "An error response of the bus is ignored.", "noc-and-memory §6.12", "the modelled memory path answers without errors") \
    S("mem.race", "hazard", "Two ports touch one word, one of them writing, with no acknowledgement between.", "noc-and-memory §12.1") \
    S("mem.raw_hazard", "hazard", "A word is read whose write is not acknowledged yet.", "noc-and-memory §12.1") \
    N("il.unmarked_flit", "error", "A flit of a remote burst lacks the marker and stays at home.", "noc-and-memory §12.1", "needs a line of meshes: shown by tests/system/test_interlink.c") \
    N("il.no_final", "error", "A marked flit names no node of the far mesh.", "noc-and-memory §12.1", "needs a line of meshes: shown by tests/system/test_interlink.c") \
    N("il.no_ack_node", "fault", "A remote burst names no node for its acknowledgement: fault ACK0.", "noc-and-memory §10.5", "needs a line of meshes: shown by tests/system/test_interlink.c") \
    N("il.no_way", "fault", "A packet to its own mesh, or past the end of the line, is dropped: fault SWITCH.", "noc-and-memory §10.8", "needs a line of meshes: shown by tests/system/test_interlink.c") \
    N("il.dropped", "fault", "A marked flit arrives while the interlink is disabled and is dropped: fault INJ.", "noc-and-memory §10.5", "needs a line of meshes: shown by tests/system/test_interlink.c") \
    N("il.single_flit", "defect", "A packet of one flit: the hardware sends what its FIFO showed before.", "noc-and-memory §10.5", "needs a line of meshes: shown by tests/system/test_interlink.c") \
    N("il.encap_interleave", "deadlock", "Two remote bursts overlap at one agent and wait for each other.", "noc-and-memory §12.2", "needs a line of meshes: shown by tests/system/test_interlink.c") \
    N("il.too_long", "deadlock", "A packet longer than the far receive FIFO never gets its credit.", "noc-and-memory §12.2", "needs a line of meshes: shown by tests/system/test_interlink.c") \
    N("il.doorbell_lost", "hazard", "A doorbell is rung again before the first one left, which is overwritten.", "noc-and-memory §10.8", "needs a line of meshes: shown by tests/system/test_interlink.c") \
    N("il.doorbell_order", "error", "A doorbell is counted before a write in front of it, whose address still waits.", "noc-and-memory §10.7", "needs a memory path so crowded that an address waits longer than a header takes, and rtl_defects") \
    S("stage.misaligned", "hazard", "A staged entry's address is not a multiple of the entry: the line that contains it is read.", "noc-and-memory §6.12") \
    S("stage.alias", "hazard", "A staged address lies beyond the store and wraps.", "noc-and-memory §7.1")

/* Reported by the mover, the transform bank, the vector core, the L2 adapter and the recorded defects: their tests show
 * them. */
#define HAZARD_ELSEWHERE(N)                                                                                            \
    N("mover.")                                                                                                        \
    N("xform.")                                                                                                        \
    N("vec.")                                                                                                          \
    N("l2.")                                                                                                           \
    N("defect.")

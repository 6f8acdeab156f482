/* The assembly text: what it means, that printing loses nothing, and where it says errors are. */
#include "model/isa/text.h"

#include <string.h>

#include "model/flit.h"
#include "model/isa/cluster.h"
#include "model/isa/vector.h"
#include "model/isa/wire.h"
#include "unit/isa_random.h"

static asm_program_owned *parse(const char *text) {
    GError *error = NULL;
    asm_program_owned *program = asm_program_parse(text, "t.fs", &error);
    g_assert_no_error(error);
    return program;
}

/* parse(print(p)) == p, and printing that gives the same text. */
static void assert_round_trip(const asm_program_owned *program) {
    g_autoptr(GString) text = g_string_new(NULL), again = g_string_new(NULL);
    asm_program_print(program, text);
    g_autoptr(asm_program_owned) back = parse(text->str);
    g_assert_true(asm_program_equal(program, back));
    asm_program_print(back, again);
    g_assert_cmpstr(text->str, ==, again->str);
}

static void assert_payload(const asm_program_owned *program, unsigned index, const char *expected) {
    char hex[WORD_HEX + 1];
    const struct asm_item *item = asm_program_item(program, index);
    g_assert_cmpint(item->kind, ==, ASM_INSTRUCTION);
    word_to_hex(&item->instruction.payload, hex);
    g_assert_cmpstr(hex, ==, expected);
}

static void assert_command(const asm_program_owned *program, unsigned index, unsigned op, uint64_t address,
                           uint64_t data, uint64_t mask) {
    const struct asm_item *item = asm_program_item(program, index);
    g_assert_cmpint(item->kind, ==, ASM_COMMAND);
    g_assert_cmpuint(item->command.command.op, ==, op);
    g_assert_cmphex(item->command.command.address, ==, address);
    g_assert_cmphex(item->command.command.data, ==, data);
    g_assert_cmphex(item->command.command.mask, ==, mask);
}

/* compute-units §9.1: four flits, and the nine commands of noc-and-memory §5.8. */
static void test_worked_example(void) {
    g_autoptr(asm_program_owned) program = parse("# C[32,32] = A[32,128] B[32,128]T\n"
                                                 "program (1,1)\n"
                                                 "    fill addr=0x0 n=32\n"
                                                 "    fill addr=0x2000 n=32 sel=b\n"
                                                 "    gemm gm=8 gn=8 nk=4\n"
                                                 "    drain addr=0x4000 n=64 last  # BATCH_COMPLETE\n"
                                                 "write SIG_DONE=0\n"
                                                 "credit 4\n"
                                                 "kick\n"
                                                 "wait signals=4\n"
                                                 "done\n");
    g_assert_cmpuint(asm_program_count(program), ==, 4 + 9);
    assert_payload(program, 0, "1000000000008000000028000000000000000000000000000000000000000000");
    assert_payload(program, 1, "1000008000008200000028000000000000000000000000000000000000000000");
    assert_payload(program, 2, "2000000000000008080428000000000000000000000000000000000000000000");
    assert_payload(program, 3, "3000010000010000000028000000000000000000000000000000000000000000");
    for (unsigned i = 0; i < 4; i++) {
        const struct asm_instruction *instruction = &asm_program_item(program, i)->instruction;
        g_assert_cmpuint(instruction->node, ==, 0x11);
        g_assert_cmpuint(instruction->slot, ==, i);
        g_assert_cmpuint(instruction->type, ==, FLIT_CU_INST);
        g_assert_cmpuint(instruction->last, ==, i == 3);
    }
    assert_command(program, 4, CONTROL_WR, AGENT_SIG_DONE, 0, 0);
    assert_command(program, 5, CONTROL_WR, AGENT_PROG_CRED, 4, 0);
    assert_command(program, 6, CONTROL_POLL, AGENT_PROG_STAT, 0, 1);
    assert_command(program, 7, CONTROL_WR, AGENT_PROG_DST, 0x11, 0);
    assert_command(program, 8, CONTROL_WR, AGENT_PROG_LEN, 4, 0);
    assert_command(program, 9, CONTROL_WR, AGENT_PROG_BASE, 0, 0);
    assert_command(program, 10, CONTROL_WR, AGENT_PROG_KICK, 1, 0);
    assert_command(program, 11, CONTROL_POLL, AGENT_SIG_DONE, 4, 0xffff);
    assert_command(program, 12, CONTROL_DONE, 0, 0, 0);
    assert_round_trip(program);
}

/* The first recorded unit-to-unit run: eight staged flits and the host's timed writes. */
static void test_recorded_stimulus(void) {
    static const char *const payloads[] = {
        "1000004000000400000028000000200000000000000000000000000000000000",
        "1000014000000600000028000000200000000000000000000000000000000000",
        "2000000000000001010128000000000000000000000000000000000000000000",
        "1000000000000400000028000000200000000000000000000000000000000000",
        "1000010000000600000028000000200000000000000000000000000000000000",
        "2000000000000001010128000000000000000000000000000000000000000000",
        "3000000000000400000028000000000000009081008800000000000000000000",
        "3000100000000400000028000000000000000000000000000000000000000000",
    };
    g_autoptr(asm_program_owned) program = parse("stage\n"
                                                 "fill addr=0x1000 n=1 preq\n"
                                                 "fill addr=0x5000 n=1 sel=b preq txn=1\n"
                                                 "gemm gm=1 gn=1 nk=1 txn=2 last\n"
                                                 "fill n=1 preq\n"
                                                 "fill addr=0x4000 n=1 sel=b preq txn=1\n"
                                                 "gemm gm=1 gn=1 nk=1 txn=2\n"
                                                 "drain n=1 dnode dst=(2,1) dbuf=2 dflags=1 dack=(0,1) txn=3 last\n"
                                                 "drain addr=0x40000 n=1 last\n"
                                                 "write SIG_DONE=0 at -25\n"
                                                 "write PROG_CRED=0xea60 at -21\n"
                                                 "write PROG_KICK=1 at -1\n");
    for (unsigned i = 0; i < G_N_ELEMENTS(payloads); i++)
        assert_payload(program, i, payloads[i]);
    g_assert_cmpuint(asm_program_item(program, 0)->instruction.node, ==, 0);
    g_assert_cmpuint(asm_program_item(program, 6)->instruction.txn, ==, 3);
    assert_command(program, 9, CONTROL_WR, AGENT_PROG_CRED, 0xea60, 0);
    g_assert_true(asm_program_item(program, 9)->command.timed);
    g_assert_cmpint(asm_program_item(program, 9)->command.cycle, ==, -21);
    assert_round_trip(program);
}

static const char sample[] = "memory 0x40: 0000000000000000000000000000000000000000000000000000000000000001 "
                             "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\n"
                             "memory 0x1000 file \"a name # with.npy\"\n"
                             "memory 64 file a.npy\n"
                             ".kernel soft-max pc=5\n"
                             "    vseti s5, 0x3f8000\n"
                             "    vseti k3, -1.5\n"
                             "    vsetmode d2\n"
                             "    vloop s5, done\n"
                             "    vmul v3, v1, s2\n"
                             "    + vadd v3, c, k1 unless p2\n"
                             "done: vcmplt p1, v3, k0 pm=1\n"
                             "    vred.max s1, v3, v0 pr=2\n"
                             "    vld.fp16 v1,[a3-8192]\n"
                             "    vbcast v1, s3\n"
                             "    vbcast s3, v1\n"
                             "    vshuf v1, v2, s3\n"
                             "    vcvt.fp32 v1, v2\n"
                             "    vsetvl s1\n"
                             "    vbar\n"
                             "    vdrain a1 l1=3\n"
                             "    .word 0xffffffff\n"
                             "    vhalt\n"
                             ".end\n"
                             "program node=(1,2) slot=7\n"
                             "load soft-max txn=9 last\n"
                             "desc a0 base=0xffffffffff\n"
                             "desc a1 dim=3 stride=-131072 bound=65535\n"
                             "desc a7 field=6 value=0x12\n"
                             "run soft-max\n"
                             "run pc=511 last txn=255\n"
                             "imem pc=3 vfma v4, v1, s5, k1 where p1 txn=2\n"
                             "imem pc=4 vseti s5\n"
                             "kick\n"
                             "at 2,2\n"
                             "fill n=4 peers=(2,1),(1,2) fbank=1\n"
                             "fill n=4 peer0=(1,1) npeer=0\n"
                             "nop\n"
                             "nop op=9 last\n"
                             "raw 0x1000000000008000000028000000000000000000000000000000000000000000 type=MEM_WR_DATA\n"
                             "raw ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff type=9 rsvd=5\n"
                             "ctrl op=1 index=0xe1 value=0xffffffffffffffff txn=4\n"
                             "rdreq addr=0x20 flags=0x40 count=3 peers=(1,1) entry_words=4\n"
                             "wrreq addr=0x20 len=3\n"
                             "data buf_id=2 offset=5 len=1 flags=1 ack=(0,1)\n"
                             "signal code=3 arg=2\n"
                             "kick node=(3,3) base=0 len=2\n"
                             "mesh 2\n"
                             "write MOVER_WALKER walker=1 base=0x1000 ndim=2\n"
                             "write MOVER_DIMENSION dimension=1 count=4 stride=-32 at 17\n"
                             "write TX_FLIT[4]=0x110185a0\n"
                             "write 0x123456789=18446744073709551615 at -5\n"
                             "poll NODE_STATUS[0x11] mask=1 value=1\n"
                             "poll STATUS value=4\n"
                             "command op=9 address=1 data=2 mask=3\n"
                             "done 0x1122334455667788\n"
                             "program (15,15)\n"
                             "drain n=512 fuse emit last\n"
                             "stage slot=65535\n"
                             "nop\n";

static void test_everything_round_trips(void) {
    g_autoptr(asm_program_owned) program = parse(sample);
    assert_round_trip(program);
    const struct asm_item *item = asm_program_item(program, 0);
    g_assert_cmpint(item->kind, ==, ASM_MEMORY);
    g_assert_cmpuint(item->memory.count, ==, 2);
    g_assert_cmphex(item->memory.words[0].w[0], ==, 1);
    g_assert_cmpstr(asm_program_item(program, 1)->memory.path, ==, "a name # with.npy");
    item = asm_program_item(program, 3);
    g_assert_cmpint(item->kind, ==, ASM_KERNEL);
    g_assert_cmpuint(item->kernel.pc, ==, 5);
    g_assert_cmphex(item->kernel.words[0], ==, 0xd00a0000);
    g_assert_cmphex(item->kernel.words[1], ==, 0x3f8000);
    g_assert_cmphex(item->kernel.words[3], ==, 0xbfc000);   /* -1.5 */
    g_assert_cmphex(item->kernel.words[5], ==, 0xd800a400); /* two words of body */
    item = asm_program_item(program, 4);
    g_assert_cmpuint(item->instruction.slot, ==, 7);
    g_assert_cmpuint(item->instruction.node, ==, 0x21);
    g_assert_cmpuint(item->instruction.last, ==, 0);
    g_assert_cmpuint(item->instruction.txn, ==, 9);
}

/* Random flits in every form: whatever the bits are, some text gives them back. */
static void test_random_flits(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(10);
    g_autoptr(asm_program_owned) program = asm_program_new();
    for (unsigned round = 0; round < 3000; round++) {
        struct asm_item item = {.kind = ASM_INSTRUCTION, .mesh = (uint8_t)(round / 1000)};
        struct asm_instruction *flit = &item.instruction;
        enum asm_form wanted = (enum asm_form)(round % 4);
        struct cluster_inst inst;
        struct vector_envelope envelope;
        flit->type = wanted == ASM_RAW || wanted == ASM_PACKET ? (uint8_t)random_bits(random, 4) : FLIT_CU_INST;
        flit->txn = (uint8_t)random_bits(random, 8);
        flit->last = (uint8_t)random_bits(random, 1);
        flit->rsvd = (uint8_t)random_bits(random, 3);
        flit->node = (uint8_t)random_bits(random, 2);
        flit->slot = round;
        flit->payload = random_word(random);
        random_fields(random, &cluster_layout, &inst);
        vector_envelope_decode(&flit->payload, &envelope);
        if (wanted == ASM_CLUSTER)
            g_assert_true(cluster_inst_encode(&inst, &flit->payload, NULL));
        if (wanted == ASM_VECTOR)
            g_assert_true(vector_envelope_encode(&envelope, &flit->payload, NULL));
        if (wanted == ASM_PACKET)
            flit->payload.w[0] = flit->payload.w[1] = flit->payload.w[2] = flit->payload.w[3] &= UINT64_C(0xffff) << 48;
        flit->form = asm_instruction_form(flit, wanted);
        asm_program_add(program, &item);
    }
    assert_round_trip(program);
}

static void test_bad_lines(void) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"program (1,1)\n  fill n=70000",
         "t.fs:2:8: cluster instruction: field n = 70000 does not fit in 16 bits (0..65535)"},
        {"program (1,1)\nfill   addr=0x10000000000", "t.fs:2:8: cluster instruction: field addr"},
        {"program (1,1)\nfill m=3", "t.fs:2:6: cluster instruction has no field 'm', expected one of op, addr, n,"},
        {"program (1,1)\nfill n", "t.fs:2:6: n: '' is not valid here, expected KEY=VALUE"},
        {"program (1,1)\nfill n=0x", "t.fs:2:6: n: '0x' is not valid here, expected a number"},
        {"program (1,1)\nfill n=-1", "t.fs:2:6: n: '-1' is not valid here, expected a number that is not negative"},
        {"program (1,1)\nfill peers=(1,1),(2", "t.fs:2:6: peers: "},
        {"program (1,1)\nfill peers=(1,1),(16,1)", "t.fs:2:6: peers: "},
        {"program (1,1)\ndrain dst=(16,0)", "t.fs:2:7: cluster instruction: field dst_x = 16 does not fit in 4 bits"},
        {"program (1,1)\nfill op=2", "t.fs:2:1: op=2 contradicts 'fill'"},
        {"program (1,1)\nnop op=1", "t.fs:2:1: op=1 contradicts 'nop'"},
        {"program (1,1)\nfill type=3", "t.fs:2:1: type= is only for raw payloads"},
        {"program (1,1)\nfill txn=256", "t.fs:2:6: flit header: field txn = 256 does not fit in 8 bits (0..255)"},
        {"program (1,1)\nraw 0x12", "t.fs:2:5: '12' is not a word, expected 64 hexadecimal digits"},
        {"program (1,1)\nraw", "t.fs:2:4: '' is not a word"},
        {"program (1,1)\nimem pc=512 vhalt", "t.fs:2:6: '512' is not valid here, expected a number 0..511"},
        {"program (1,1)\nimem pc=1 vadd v1", "t.fs:2:18: '' is not valid here, expected an operand"},
        {"program (1,1)\nimem pc=1 vloop s1, x", "t.fs:2:11: imem carries one word"},
        {"program (1,1)\ndesc a8 base=0", "t.fs:2:6: 'a8' is not valid here, expected an address descriptor a0..a7"},
        {"program (1,1)\ndesc a1 dim=1", "t.fs:2:9: desc is not complete"},
        {"program (1,1)\ndesc a1 dim=1 bound=1 stride=131072",
         "t.fs:2:23: desc: field stride = 131072 does not fit in 18 signed bits"},
        {"program (1,1)\nload x", "t.fs:2:6: there is no kernel 'x'"},
        {"program (1,1)\nfrob", "t.fs:2:1: 'frob' is not a statement, expected one of program"},
        {"program (1,1)\nkick", "t.fs:2:1: the kick has no instructions to send"},
        {"stage\nnop\nkick", "t.fs:3:1: the kick has no destination"},
        {"fill n=1", "t.fs:1:1: 'fill' is outside a section"},
        {"program (0,0)", "t.fs:1:9: '(0,0)' is not a node"},
        {"program (1,16)", "t.fs:1:9: '(1,16)' is not a node"},
        {"program", "t.fs:1:8: '' is not a node"},
        {"program (1,1) slot=65536", "t.fs:1:15: '65536' is not valid here, expected a number 0..65535"},
        {"stage slot=65535\nnop\nnop", "t.fs:3:1: the instruction needs staging slot 65536"},
        {"mesh 4", "t.fs:1:6: '4' is not valid here, expected a number 0..3"},
        {"write PROG=1", "t.fs:1:7: there is no register 'PROG'"},
        {"write PROG_DST", "t.fs:1:7: the write has no value, expected PROG_DST=VALUE"},
        {"write PROG_DST=x", "t.fs:1:7: 'x' is not valid here, expected a number"},
        {"write PROG_DST=1 2", "t.fs:1:18: '2' follows a complete statement"},
        {"write PROG_DST=1 at x", "t.fs:1:21: 'x' is not a cycle"},
        {"write MOVER_WALKER walker=1 xform_id=2", "t.fs:1:7: mover_walker: fields xform_id = 2"},
        {"poll SIG_DONE mask=1", "t.fs:1:21: the poll has nothing to wait for, expected value="},
        {"command op=16", "t.fs:1:9: command: field op = 16 does not fit in 4 bits"},
        {"credit 65536", "t.fs:1:8: '65536' is not valid here"},
        {"wait 3", "t.fs:1:6: '3' is not valid here, expected signals=N"},
        {"memory 0x21: 0", "t.fs:1:8: address 0x21 is not a multiple of 32"},
        {"memory 0x20: 0", "t.fs:1:14: '0' is not a word, expected 64 hexadecimal digits"},
        {"memory 0x20:", "t.fs:1:13: the preset has no words"},
        {"memory 0x20 x.npy", "t.fs:1:13: 'x.npy' is not valid here, expected ': WORD ..' or 'file PATH'"},
        {"memory 0x20 file \"x", "t.fs:1:18: '\"x' is not a path"},
        {".kernel 1", "t.fs:1:9: '1' is not a kernel name"},
        {".kernel x\nvhalt", "t.fs:3:1: kernel 'x' of line 1 is open, expected .end"},
        {".kernel x\nvfoo v1\n.end", "t.fs:2:1: 'vfoo' is not a vector instruction"},
        {".kernel x\nvadd.fp16 v1\n.end",
         "t.fs:2:1: 'vadd.fp16' is not an instruction, expected vadd without a suffix"},
        {".kernel x\n  vmov v16, v1\n.end", "t.fs:2:8: 'v16' is not valid here, expected a vector register v0..v15"},
        {".kernel x\n  vmov v1, v2 where p4\n.end", "t.fs:2:21: 'p4' is not valid here, expected a predicate p0..p3"},
        {".kernel x\nvld.fp16 v1, [a3+8192]\n.end", "t.fs:2:14: '[a3+8192]' is not valid here, expected an L1 address"},
        {".kernel x\nvfill a1 l1=512\n.end", "t.fs:2:10: vfill/vdrain: field l1 = 512 does not fit in 9 bits"},
        {".kernel x\nvloop s1, far\n.end", "t.fs:2:11: there is no label 'far' in kernel 'x'"},
        {".kernel x\nfar: vbar\nvloop s1, far\n.end", "t.fs:3:11: label 'far' is not 0 to 15 words after the vloop"},
        {".kernel x\na: vbar\na: vbar\n.end", "t.fs:3:1: 'a' is not a new label"},
        {".kernel x\n.end\n.kernel x\n.end", "t.fs:3:9: kernel 'x' is already defined"},
        {".kernel x pc=511\nvbar\nvhalt\n.end", "t.fs:3:1: kernel 'x' passes word 511"},
        {".kernel x\n+ vhalt\n.end", "t.fs:2:3: 'vhalt' cannot follow '+'"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        GError *error = NULL;
        g_assert_null(asm_program_parse(cases[i].text, "t.fs", &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
        if (!g_str_has_prefix(error->message, cases[i].message))
            g_assert_cmpstr(error->message, ==, cases[i].message);
        g_error_free(error);
    }
}

/* Cut and damaged texts are either programs that round-trip or errors with a position; never anything else. */
static void test_damaged_text(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(11);
    for (unsigned round = 0; round < 4000; round++) {
        g_autofree char *text = g_strdup(sample);
        size_t length = strlen(text);
        for (unsigned i = 0; i < 3; i++)
            text[g_rand_int_range(random, 0, (gint32)length)] =
                " \n\"#(),=[]-+.:0x9avs"[g_rand_int_range(random, 0, 20)];
        if (round % 2)
            text[g_rand_int_range(random, 0, (gint32)length)] = '\0';
        GError *error = NULL;
        g_autoptr(asm_program_owned) program = asm_program_parse(text, "t.fs", &error);
        if (program)
            assert_round_trip(program);
        else
            g_assert_true(g_str_has_prefix(error->message, "t.fs:"));
        g_clear_error(&error);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/asm_text/worked_example", test_worked_example);
    g_test_add_func("/asm_text/recorded_stimulus", test_recorded_stimulus);
    g_test_add_func("/asm_text/everything_round_trips", test_everything_round_trips);
    g_test_add_func("/asm_text/random_flits", test_random_flits);
    g_test_add_func("/asm_text/bad_lines", test_bad_lines);
    g_test_add_func("/asm_text/damaged_text", test_damaged_text);
    return g_test_run();
}

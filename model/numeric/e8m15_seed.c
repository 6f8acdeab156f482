/* Seeds of the vector core. */
#include "model/numeric/e8m15_seed.h"

enum {
    BIAS = 127,
    SIGNIFICAND_ONE = 1 << 15,
    C0_ONE = 1 << 20,
    SEGMENT_BITS = 10, /* fraction bits below a segment's number */
    EXP2_FRACTION = 17,
    EXP2_WHOLE_BITS = 8,
    EXP2_FIELD_WRAPS = 134, /* 128 <= |a| < 256 */
    MAGNITUDE = 0x7fffff,
};

/* The quadratics through each segment's three Chebyshev nodes, rounded to nearest; a unit test computes them again. */
static const struct e8m15_quadratic exp2_segments[E8M15_SEGMENTS] = {
    {0, 363393, 63660},       {22961, 371350, 65054},   {46424, 379481, 66479},   {70402, 387791, 67934},
    {94904, 396282, 69422},   {119943, 404960, 70942},  {145530, 413827, 72495},  {171678, 422889, 74083},
    {198398, 432149, 75705},  {225703, 441612, 77363},  {253606, 451282, 79057},  {282120, 461164, 80788},
    {311259, 471262, 82557},  {341035, 481581, 84365},  {371464, 492126, 86212},  {402559, 502903, 88100},
    {434334, 513915, 90029},  {466806, 525168, 92000},  {499989, 536668, 94015},  {533898, 548419, 96074},
    {568549, 560428, 98177},  {603960, 572700, 100327}, {640146, 585240, 102524}, {677124, 598055, 104769},
    {714912, 611151, 107063}, {753527, 624534, 109408}, {792988, 638209, 111803}, {833313, 652184, 114251},
    {874521, 666465, 116753}, {916631, 681059, 119310}, {959664, 695972, 121922}, {1003638, 711212, 124592}};

static const struct e8m15_quadratic log2_segments[E8M15_SEGMENTS] = {
    {0, 756254, -183340},      {46551, 733345, -172556},  {91712, 711782, -162697},  {135563, 691452, -153660},
    {178180, 672250, -145355}, {219628, 654086, -137705}, {259971, 636878, -130644}, {299266, 620551, -124113},
    {337566, 605041, -118059}, {374921, 590287, -112438}, {411375, 576236, -107208}, {446971, 562837, -102336},
    {481749, 550048, -97788},  {515746, 537827, -93537},  {548995, 526137, -89557},  {581529, 514945, -85825},
    {613378, 504218, -82322},  {644570, 493930, -79030},  {675132, 484053, -75931},  {705089, 474563, -73010},
    {734464, 465438, -70256},  {763280, 456657, -67654},  {791557, 448201, -65194},  {819315, 440053, -62865},
    {846573, 432196, -60660},  {873349, 424615, -58568},  {899658, 417295, -56583},  {925518, 410222, -54697},
    {950944, 403386, -52904},  {975949, 396774, -51197},  {1000547, 390375, -49572}, {1024752, 384179, -48023}};

static const struct e8m15_quadratic inv_segments[E8M15_SEGMENTS] = {
    {1048575, -524013, 250275}, {1016800, -492751, 228522}, {986894, -464205, 209219}, {958697, -438069, 192030},
    {932067, -414079, 176674},  {906876, -392008, 162912},  {883011, -371655, 150544}, {860370, -352846, 139396},
    {838860, -335430, 129323},  {818400, -319273, 120197},  {798915, -304255, 111910}, {780335, -290272, 104367},
    {762600, -277231, 97488},   {745654, -265050, 91200},   {729444, -253654, 85441},  {713924, -242978, 80158},
    {699050, -232962, 75301},   {684784, -223552, 70828},   {671088, -214701, 66703},  {657930, -206366, 62893},
    {645277, -198507, 59367},   {633102, -191088, 56099},   {621378, -184078, 53067},  {610080, -177446, 50250},
    {599186, -171166, 47629},   {588674, -165214, 45187},   {578525, -159567, 42909},  {568719, -154205, 40781},
    {559240, -149108, 38792},   {550073, -144260, 36931},   {541200, -139645, 35186},  {532610, -135247, 33550}};

static const struct e8m15_quadratic rsqrt_segments[E8M15_RSQRT_SEGMENTS] = {
    {1048576, -262057, 94579}, {1032566, -250241, 87677}, {1017268, -239287, 81461}, {1002630, -229109, 75844},
    {988607, -219633, 70755},  {975156, -210792, 66132},  {962239, -202529, 61920},  {949823, -194792, 58075},
    {937875, -187535, 54556},  {926367, -180718, 51329},  {915272, -174304, 48362},  {904567, -168260, 45630},
    {894229, -162558, 43110},  {884237, -157171, 40780},  {874573, -152075, 38623},  {865219, -147248, 36622},
    {856159, -142672, 34763},  {847377, -138328, 33034},  {838861, -134199, 31423},  {830596, -130272, 29919},
    {822571, -126533, 28515},  {814774, -122970, 27201},  {807194, -119570, 25970},  {799822, -116325, 24816},
    {792649, -113223, 23733},  {785665, -110257, 22714},  {778863, -107418, 21756},  {772234, -104699, 20853},
    {765772, -102093, 20002},  {759469, -99593, 19199},   {753319, -97194, 18440},   {747317, -94889, 17723},
    {741455, -185303, 66877},  {730134, -176947, 61997},  {719317, -169201, 57601},  {708967, -162005, 53630},
    {699051, -155304, 50032},  {689539, -149053, 46762},  {680406, -143210, 43784},  {671626, -137739, 41065},
    {663178, -132607, 38577},  {655040, -127787, 36295},  {647195, -123251, 34197},  {639625, -118978, 32266},
    {632315, -114946, 30483},  {625250, -111137, 28836},  {618416, -107533, 27310},  {611802, -104120, 25895},
    {605396, -100884, 24581},  {599186, -97812, 23358},   {593164, -94893, 22219},   {587320, -92116, 21156},
    {581645, -89473, 20163},   {576132, -86953, 19234},   {570772, -84549, 18364},   {565560, -82254, 17548},
    {560487, -80061, 16781},   {555549, -77964, 16061},   {550739, -75956, 15384},   {546052, -74034, 14745},
    {541482, -72191, 14144},   {537026, -70423, 13576},   {532677, -68726, 13039},   {528433, -67097, 12532}};

struct e8m15_quadratic e8m15_seed_segment(enum e8m15_seed seed, unsigned index) {
    switch (seed) {
    case E8M15_SEED_EXP2:
        return exp2_segments[index];
    case E8M15_SEED_LOG2:
        return log2_segments[index];
    case E8M15_SEED_INV:
        return inv_segments[index];
    case E8M15_SEED_RSQRT:
    default:
        return rsqrt_segments[index];
    }
}

/* u is the place in the segment in 1/4096; the result has weight 2^-20. */
static int32_t evaluate(struct e8m15_quadratic q, int32_t u) {
    const int64_t half = 1 << 15;
    int64_t h = ((int64_t)q.c2 * u + (int64_t)q.c1 * 65536 + half) >> 16;
    return (int32_t)((h * u + (int64_t)q.c0 * 65536 + half) >> 16);
}

static bool is_infinite(uint32_t a) {
    return (a & MAGNITUDE) == E8M15_INFINITY;
}

static bool is_negative(uint32_t a) {
    return a & E8M15_SIGN;
}

/* Segment and place of a fraction. */
static unsigned segment_of(uint32_t a) {
    return e8m15_fraction(a) >> SEGMENT_BITS;
}

static int32_t place_of(uint32_t a) {
    return (int32_t)(e8m15_fraction(a) & ((1 << SEGMENT_BITS) - 1)) << 2;
}

bool e8m15_exp2_leaves_range(uint32_t a) {
    return e8m15_exponent(a) == EXP2_FIELD_WRAPS && a != e8m15_pack(1, EXP2_FIELD_WRAPS, 0); /* -128 still fits */
}

/* a with 17 fraction bits, half rounded up in magnitude, wrapped into 25 bits. |a| < 256. */
static int32_t fixed_point(uint32_t a) {
    int down = EXP2_FIELD_WRAPS - (int)e8m15_exponent(a);
    int32_t doubled = (int32_t)(SIGNIFICAND_ONE | e8m15_fraction(a)) << 10 >> (down > 26 ? 26 : down);
    int32_t r = (doubled >> 1) + (doubled & 1);
    int32_t wrapped = (is_negative(a) ? -r : r) & ((1 << (EXP2_FRACTION + EXP2_WHOLE_BITS)) - 1);
    int32_t sign = 1 << (EXP2_FRACTION + EXP2_WHOLE_BITS - 1);
    return (wrapped ^ sign) - sign;
}

uint32_t e8m15_exp2(uint32_t a, enum e8m15_exp2_range range) {
    if (e8m15_is_nan(a))
        return E8M15_NAN;
    if (e8m15_exponent(a) == 0)
        return E8M15_ONE;
    if (e8m15_exponent(a) > EXP2_FIELD_WRAPS || (range == E8M15_EXP2_SATURATES && e8m15_exp2_leaves_range(a)))
        return is_negative(a) ? E8M15_ZERO : E8M15_INFINITY;
    int32_t r = fixed_point(a), whole = r >> EXP2_FRACTION, rest = r & ((1 << EXP2_FRACTION) - 1);
    struct e8m15_quadratic q = exp2_segments[rest >> 12];
    q.c0 = (rest == 0 ? 0 : q.c0) + C0_ONE;
    return e8m15_round(0, (uint64_t)evaluate(q, rest & 4095), false, whole + 107);
}

uint32_t e8m15_log2(uint32_t a) {
    if (e8m15_is_nan(a))
        return E8M15_NAN;
    if (e8m15_exponent(a) == 0)
        return E8M15_SIGN | E8M15_INFINITY;
    if (is_negative(a))
        return E8M15_NAN;
    if (is_infinite(a))
        return E8M15_INFINITY;
    struct e8m15_quadratic q = log2_segments[segment_of(a)];
    q.c0 = (e8m15_fraction(a) == 0 ? 0 : q.c0) + ((int32_t)e8m15_exponent(a) - BIAS) * C0_ONE;
    int32_t f = evaluate(q, place_of(a));
    return e8m15_round(f < 0, (uint64_t)(f < 0 ? -f : f), false, 107);
}

uint32_t e8m15_inv(uint32_t a) {
    uint32_t sign = a & E8M15_SIGN;
    if (e8m15_is_nan(a))
        return E8M15_NAN;
    if (e8m15_exponent(a) == 0)
        return sign | E8M15_INFINITY;
    if (is_infinite(a))
        return sign;
    struct e8m15_quadratic q = inv_segments[segment_of(a)];
    q.c0 = e8m15_fraction(a) == 0 ? C0_ONE : q.c0;
    return e8m15_round(sign >> 23, (uint64_t)evaluate(q, place_of(a)), false, 234 - (int)e8m15_exponent(a));
}

uint32_t e8m15_rsqrt(uint32_t a) {
    if (e8m15_is_nan(a))
        return E8M15_NAN;
    if (e8m15_exponent(a) == 0)
        return E8M15_INFINITY;
    if (is_negative(a))
        return E8M15_NAN;
    if (is_infinite(a))
        return E8M15_ZERO;
    int power = (int)e8m15_exponent(a) - BIAS;
    bool odd = power & 1;
    struct e8m15_quadratic q = rsqrt_segments[(odd ? E8M15_SEGMENTS : 0) + segment_of(a)];
    q.c0 = e8m15_fraction(a) == 0 && !odd ? C0_ONE : q.c0;
    return e8m15_round(0, (uint64_t)evaluate(q, place_of(a)), false, 107 - (power >> 1));
}

"""bench/counts on machine code made up here: what a thread issues is counted by hand beside it."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "counts"))

import collect  # noqa: E402
import goals  # noqa: E402
import sass  # noqa: E402
from semantics import State  # noqa: E402
from walk import Kernel, Lost, Walk  # noqa: E402


def listing(text):
    """As cuobjdump writes it: a line for each instruction, and one for its upper half."""
    lines = ["\t\tFunction : made_up", '\t.headerflags\t@"EF_CUDA_SM90"']
    for i, line in enumerate(text.strip().splitlines()):
        lines.append(f"        /*{16 * i:04x}*/                   {line.split('//')[0].strip()} ;"
                     "          /* 0x00000a00ff017b82 */")
        lines.append("                                 /* 0x000fe20000000800 */")
    return lines


def words(*numbers):
    return list(b"".join(number.to_bytes(4, "little") for number in numbers))


def follow(text, arguments=(), table=()):
    """The walk through it; arguments are words from c[0x0][0x0] on, the table those of bank 2."""
    code = sass.functions(listing(text))["made_up"]
    return Walk(Kernel("made_up", code, {0: words(*arguments), 2: words(*table)}))


class Sass(unittest.TestCase):
    def test_parts(self):
        parsed = sass.parse("        /*01a0*/              @!P0 IADD3 R3, P1, -R2.reuse, UR4, RZ ;   /* 0x0 */")
        self.assertEqual(parsed, sass.Instruction(0x1A0, "!P0", "IADD3", (), ("R3", "P1", "-R2", "UR4", "RZ")))
        parsed = sass.parse("        /*0010*/                   BRX R16 -0x690 ;      /* 0x0 */")
        self.assertEqual(parsed.operands, ("R16", "-0x690"))
        parsed = sass.parse("        /*0020*/                   STG.E.128 desc[UR8][R2.64+0x200], R32 ;  /* 0x0 */")
        self.assertEqual((parsed.name, parsed.modifiers), ("STG", ("E", "128")))

    def test_no_instruction(self):
        self.assertIsNone(sass.parse("                                     /* 0x000fe20000000800 */"))


class Semantics(unittest.TestCase):
    def run_all(self, text, **registers):
        state = State({0: words(7, 0xFFFFFFFF, 5, 1)}, {"SR_TID.X": 0})
        state.values.update(registers)
        for instruction in sass.functions(listing(text))["made_up"]:
            state.run(instruction)
        return state

    def test_difference_of_64_bits(self):
        # 0x5_00000003 less 0x1_00000004, and less 0x1_00000003; the borrow by way of P0.
        for lower, expected in ((4, (0xFFFFFFFF, 3)), (3, (0, 4))):
            state = self.run_all("""
                IADD3 R4, P0, R0, -R2, RZ
                IADD3.X R5, R1, ~R3, RZ, P0, !PT""", R0=3, R1=5, R2=lower, R3=1)
            self.assertEqual((state.read("R4"), state.read("R5")), expected)

    def test_comparison_of_64_bits(self):
        for lower, upper, expected in ((0x3FF, 0, False), (0x400, 0, True), (0, 1, True),
                                       (0x400, 0xFFFFFFFF, False)):
            state = self.run_all("""
                ISETP.GT.U32.AND P0, PT, R0, 0x3ff, PT
                ISETP.GT.AND.EX P1, PT, R1, RZ, PT, P0""", R0=lower, R1=upper)
            self.assertIs(state.read("P1"), expected)

    def test_scaled_difference(self):
        # 2^20 - (3 << 10), as a tile's rest is found.
        state = self.run_all("LEA R7, P0, -R4, UR4, 0xa", R4=3, UR4=1 << 20)
        self.assertEqual(state.read("R7"), (1 << 20) - 3072)
        self.assertIs(state.read("P0"), True)

    def test_words(self):
        state = self.run_all("""
            IMAD.WIDE.U32 R2, R0, 0x8, R4
            SHF.R.U32.HI R6, RZ, 0x5, R0
            SHF.R.S32.HI R7, RZ, 0x1f, R1
            SHF.L.U64.HI R8, R0, 0x1d, R0
            LOP3.LUT R9, R0, 0x1f, R1, 0x78, !PT
            PRMT R10, R0, 0x9910, RZ
            HFMA2.MMA R11, -RZ, RZ, 0, 5.9604644775390625e-08
            VIADDMNMX.U32 R12, R0, R1, 0x2, PT
            SEL R13, R0, R1, !P0""", R0=0x62, R1=0xFFFFFFFC, R4=1, R5=2, P0=True)
        self.assertEqual((state.read("R2"), state.read("R3")), (0x311, 2))
        self.assertEqual(state.read("R6"), 3)
        self.assertEqual(state.read("R7"), 0xFFFFFFFF)
        self.assertEqual(state.read("R8"), (0x62 << 32 | 0x62) << 29 >> 32 & 0xFFFFFFFF)
        self.assertEqual(state.read("R9"), 0x62 ^ (0x1F & 0xFFFFFFFC))
        self.assertEqual(state.read("R10"), 0x62)
        self.assertEqual(state.read("R11"), 1)
        self.assertEqual(state.read("R12"), 2)
        self.assertEqual(state.read("R13"), 0xFFFFFFFC)

    def test_votes_find_nothing_unusual(self):
        state = self.run_all("""
            VOTE.ANY P1, !P2
            VOTE.ALL P3, P2
            VOTE.ANY P4, P0
            VOTE.ANY R5, PT, P0""", P0=True, R5=1)
        self.assertEqual([state.read(name) for name in ("P1", "P3", "P4", "R5")], [False, True, True, None])

    def test_constants(self):
        state = self.run_all("""
            LDC.64 R2, c[0x0][0x8]
            ULDC.U8 UR4, c[0x0][0x4]
            LDC R5, c[0x0][R0+0x4]
            LDC R6, c[0x0][0x10]""", R0=4, R6=9)
        self.assertEqual((state.read("R2"), state.read("R3")), (5, 1))
        self.assertEqual((state.read("UR4"), state.read("R5")), (0xFF, 5))
        self.assertIsNone(state.read("R6"))

    def test_what_is_unknown_is_forgotten(self):
        state = self.run_all("""
            LDG.E.128 R4, desc[UR4][R2.64]
            @P3 MOV R0, 0x1
            SHFL.IDX PT, R1, R8, R9, 0x1f""", R0=2, R1=3, R5=4, R7=5, R8=6)
        self.assertEqual([state.read(f"R{i}") for i in (0, 1, 5, 7, 8)], [None, None, None, None, 6])


class Ways(unittest.TestCase):
    LOOP = """
        LDC R2, c[0x0][0x0]
        MOV R3, RZ
        FSETP.GT.AND P1, PT, R8, R9, PT         // 0x20
        @P1 LOP3.LUT R7, R7, 0x1, RZ, 0x3c, !PT
        IADD3 R3, R3, 0x1, RZ
        ISETP.GE.AND P0, PT, R3, R2, PT
        @!P0 BRA 0x20
        EXIT"""

    def test_loop(self):
        for times in (1, 9):
            walk = follow(self.LOOP, [times])
            self.assertEqual(walk.steps, 2 + 5 * times + 1)
            self.assertEqual(walk.loop_instructions(), 5 * times)

    def test_loop_over_memory(self):
        with self.assertRaises(Lost):
            follow(self.LOOP.replace("LDC R2, c[0x0][0x0]", "LDG.E R2, desc[UR4][R4.64]"))

    def test_loop_that_stores(self):
        walk = follow(self.LOOP.replace("FSETP.GT.AND P1, PT, R8, R9, PT",
                                        "STG.E.128 desc[UR4][R4.64], R8"), [3])
        self.assertEqual((walk.steps, walk.loop_instructions()), (18, 0))

    def test_switch(self):
        text = """
            LDC R0, c[0x0][0x0]
            SHF.L.U32 R1, R0, 0x2, RZ
            LDC R2, c[0x2][R1]
            BRX R2 -0x40
            NOP                     // 0x40
            NOP
            BRA 0x90
            NOP                     // 0x70
            BRA 0x90
            EXIT                    // 0x90"""
        self.assertEqual(follow(text, [0], [0x40, 0x70]).steps, 4 + 3 + 1)
        self.assertEqual(follow(text, [1], [0x40, 0x70]).steps, 4 + 2 + 1)

    def test_guarded_end_and_second_condition(self):
        text = """
            ISETP.NE.AND P0, PT, RZ, c[0x0][0x0], PT
            @!P0 EXIT
            ISETP.NE.AND P1, PT, RZ, c[0x0][0x4], PT
            @P0 BRA P1, 0x60
            NOP
            NOP
            EXIT                    // 0x60"""
        for arguments, steps in (((0, 0), 2), ((1, 0), 7), ((1, 1), 5)):
            self.assertEqual(follow(text, arguments).steps, steps)

    def test_both_ways_of_a_warp(self):
        # Both sides, and what follows once. A register that the sides agree on stays known.
        text = """
            LDG.E R0, desc[UR4][R2.64]
            FSETP.GT.AND P0, PT, R0, 1, PT
            BSSY B0, 0x80
            @P0 BRA 0x70
            MOV R5, 0x1             // 0x40
            NOP
            BRA 0x80
            MOV R5, 0x1             // 0x70
            BSYNC B0                // 0x80
            ISETP.EQ.AND P1, PT, R5, 0x1, PT
            @P1 EXIT
            NOP
            EXIT"""
        self.assertEqual(follow(text).steps, 4 + 3 + 1 + 3)
        differing = text.replace("MOV R5, 0x1             // 0x70", "MOV R5, 0x2")
        self.assertEqual(follow(differing).steps, 4 + 3 + 1 + 5)

    def test_slow_path(self):
        walk = follow("""
            FCHK P0, R4, R5
            @!P0 BRA 0x40
            MOV R4, 0x40
            CALL.REL.NOINC 0x60
            NOP                     // 0x40
            EXIT
            RET.REL.NODEC R4 0x0    // 0x60""")
        self.assertEqual((walk.steps, walk.slow_paths), (4, {0x10}))

    def test_warps_stay_together(self):
        self.assertEqual(follow("""
            BRA.DIV UR4, 0x30
            NOP
            EXIT
            WARPSYNC.COLLECTIVE R3, 0x50   // 0x30
            BRA 0x10
            NOP""").steps, 3)


class Needs(unittest.TestCase):
    def test_names(self):
        prefix = "_ZN6fewbit7kernels4cuda"
        function = "INS1_8FunctionIXadL_ZNS_9generated5relu615warp_activationEfEEXadL_ZNS5_16brief_activationEfEEEE"
        for symbol, name in (
                (f"{prefix}14forward_kernel{function}LNS0_11ElementTypeE1EEEvNS1_16ForwardArgumentsE",
                 "forward relu6 bf16"),
                (f"{prefix}22forward_doubles_kernel{function}EEvPKdPdlNS1_10ParametersE", "forward relu6 f64"),
                (f"{prefix}15backward_kernelILNS0_11ElementTypeE2ELi7EEEvNS1_17BackwardArgumentsE",
                 "backward f16 7"),
                (f"{prefix}21rotated_encode_kernelILNS0_11ElementTypeE1ELi256EEEvNS1_22RotatedEncodeArgumentsE",
                 "rotated_encode bf16 256"),
                (f"{prefix}21trellis_encode_kernelILNS0_11ElementTypeE2ELi64EEEvNS1_22RotatedEncodeArgumentsE",
                 "trellis_encode f16 64"),
                (f"{prefix}19group_encode_kernelILNS0_11ElementTypeE0ELNS0_8RoundingE1EEEvNS1_20GroupEncodeArgumentsE",
                 "group_encode f32 random"),
                (f"{prefix}27group_decode_doubles_kernelILNS0_8RoundingE0EEEvNS1_20GroupDecodeArgumentsE", "group_decode f64"),
                (f"{prefix}18mask_decode_kernelINS1_11MaskElementItLt31744ELt15360EEEEEvNS1_19MaskDecodeArgumentsE",
                 "mask_decode f16"),
                (f"{prefix}18mask_decode_kernelINS1_8MaskBoolEEEvNS1_19MaskDecodeArgumentsE", "mask_decode bool"),
                (f"{prefix}21integer_encode_kernelILNS0_11IntegerTypeE3EEEvNS1_22IntegerEncodeArgumentsE",
                 "integer_encode i64"),
                (f"{prefix}16bisection_kernelILNS0_11ElementTypeE0EEEvNS1_15EncodeArgumentsE", "bisection f32"),
                ("_ZN6fewbit5otherE", None)):
            self.assertEqual(collect.name_of(symbol), name)

    def test_occupancy(self):
        self.assertEqual(collect.occupancy(64, 9216, 256), 0.5)
        self.assertEqual(collect.occupancy(42, 0, 256), 0.625)  # in steps of 8 registers: 48
        self.assertEqual(collect.occupancy(32, 0, 256), 1.0)
        self.assertEqual(collect.occupancy(32, 60 * 1024, 256), 0.375)
        self.assertEqual(collect.occupancy(16, 0, 32), 0.5)  # 32 blocks at most

    def test_spills(self):
        code = sass.functions(listing("STL [R1], R2\nSTL.128 [R1+0x10], R4\nLDL R2, [R1]"))["made_up"]
        self.assertEqual(collect.spill_bytes(code), 20)


class Goals(unittest.TestCase):
    def counts(self, instructions=10.0, size=1000, spills=0, occupancy=0.5, name="backward bf16 3"):
        return {"passes": {name: {"instructions": instructions}},
                "kernels": {name: {"code_bytes": size, "spill_bytes": spills, "occupancy": occupancy}},
                "code_bytes": {"sm_90": 1000}}

    def test_kept(self):
        self.assertEqual(goals.broken(self.counts()), [])
        self.assertEqual(goals.grown(self.counts(10.9), self.counts(10.0)), [])

    def test_missed(self):
        for counts in (self.counts(12.1), self.counts(spills=4), self.counts(occupancy=0.375),
                       self.counts(28.1, name="forward gelu bf16 smoothed_normal_b3")):
            self.assertEqual(len(goals.broken(counts)), 1)

    def test_grown(self):
        self.assertEqual(len(goals.grown(self.counts(11.1), self.counts(10.0))), 1)
        self.assertEqual(len(goals.grown(self.counts(size=1101), self.counts())), 1)

    def test_other_kernels(self):
        self.assertEqual(len(goals.grown(self.counts(name="backward bf16 4"), self.counts())), 2)


if __name__ == "__main__":
    unittest.main()

"""What the counts have to keep to."""

GROWTH = 1.10           # over the committed counts
OCCUPANCY = 0.5         # of a multiprocessor's warps, at least; several small tensors have fewer blocks
BACKWARD = 12.0         # instructions an element, at most
FORWARD = {"forward gelu bf16 smoothed_normal_b3": 28.0}
QUANTIZERS = {"rotated_encode f32 256 b3": 75.0, "rotated_decode f32 256 b3": 55.0,
              "trellis_encode f32 256 b2s4": 500.0, "trellis_decode f32 256 b2s4": 60.0,
              "group_encode f32 squares b4": 75.0, "group_decode f32 squares b4": 20.0,
              "group_encode f32 b4": 28.0, "group_decode f32 b4": 20.0,
              "mask_encode bool b1": 8.0, "mask_decode bool b1": 8.0}
CODE_BYTES = 20e6       # of one architecture


def limit_of(name):
    """Instructions an element that a pass may issue, None where that is open."""
    counted = name.startswith("backward") and "f64" not in name
    return BACKWARD if counted else (FORWARD | QUANTIZERS).get(name)


def broken(counts):
    """What counts miss, a line each."""
    faults = []
    for name, kernel in counts["kernels"].items():
        if kernel["spill_bytes"]:
            faults.append(f"{name}: spills {kernel['spill_bytes']} bytes")
        if kernel["occupancy"] < OCCUPANCY and "_together" not in name:
            faults.append(f"{name}: occupancy {kernel['occupancy']:.0%}, goal {OCCUPANCY:.0%}")
    for name, found in counts["passes"].items():
        limit = limit_of(name)
        if limit and found["instructions"] > limit:
            faults.append(f"{name}: {found['instructions']:.1f} instructions, goal {limit:.0f}")
    if spilled := counts.get("release", {}).get("spill_bytes", 0):
        faults.append(f"other architectures: kernels spill {spilled} bytes")
    for architecture, size in counts["code_bytes"].items():
        if size > CODE_BYTES:
            faults.append(f"{architecture}: {size} bytes of code, goal {CODE_BYTES:.0f}")
    return faults


def grown(counts, committed):
    """Where counts are over those committed, a line each."""
    faults = []
    for group, what in (("passes", "instructions"), ("kernels", "code_bytes")):
        if counts[group].keys() != committed[group].keys():
            names = sorted(counts[group].keys() ^ committed[group].keys())
            faults.append(f"other {group} than in the committed counts: {', '.join(names)}")
        for name in counts[group].keys() & committed[group].keys():
            now, before = counts[group][name][what], committed[group][name][what]
            if now > before * GROWTH:
                faults.append(f"{name}: {now:g} {what}, committed {before:g}")
    return sorted(faults)

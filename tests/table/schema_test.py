"""docs/table.schema.json describes every shipped table and fresh ones of every form, weight and
symmetry, has all of their keys, and refuses what is none. Arguments: the repository, fewbit-solve."""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

ROOT, SOLVE = pathlib.Path(sys.argv[1]), sys.argv[2]
SCHEMA = json.loads((ROOT / "docs/table.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

FRESH = [
    "--fn gelu --bits 3",
    "--fn gelu --bits 2 --form intervals --dtype bf16",
    "--fn gelu --bits 2 --form unbiased --domain=-inf,3 --weight normal:0.5,2",
    "--fn tanh --bits 3 --weight mixture --domain=-inf,inf",
    "--fn relu --bits 1",
    "--fn elu:alpha=0.5 --levels 5 --weight laplace:0.5,2",
    "--fn silu --bits 2 --weight student-t:0,1,0.5",
    "--fn silu --bits 2 --weight laplace --objective smoothed:tau=0.5,lambda=1e-4",
    "--expr x*sigmoid(2*x) --name mine --bits 1 --weight samples:flat.csv",
    "--fn gelu --bits 2 --weight samples:units.npy",
    "--fn gelu --bits 2 --weight samples:many.csv",
    "--fn gelu --bits 2 --weight samples:units.npy --objective smoothed",
    "--fn gelu --bits 2 --weight histogram:bins.csv --objective smoothed",
]


def write_data(folder):
    numbers = [((i * 37) % 101 - 50) / 20 for i in range(200)]
    (folder / "flat.csv").write_text("\n".join(map(str, numbers)))
    (folder / "many.csv").write_text("\n".join(str(i * i * 1e-6 - 2) for i in range(2000)))
    (folder / "bins.csv").write_text("-2,1\n-0.5,3\n0.5,2\n3\n")
    header = b"{'descr': '<f2', 'fortran_order': False, 'shape': (3, 2), }\n"
    halves = b"\x00\x3c\x00\x40\x00\xbc\x00\x38\x00\x00\x00\x44"
    length = len(header).to_bytes(2, "little")
    (folder / "units.npy").write_bytes(b"\x93NUMPY\x01\x00" + length + header + halves)


def fresh_tables():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_data(folder)
        for line in FRESH:
            run = subprocess.run([SOLVE, *line.split(), "-o", "table.json"], cwd=folder,
                                 capture_output=True, text=True, check=False)
            assert run.returncode == 0, f"{line}: {run.stderr}"
            yield line, json.loads((folder / "table.json").read_text())


def changes():
    """Names what is wrong, and how to make it so."""
    yield "an unknown key", lambda t: t.update(colour=2)
    for key in SCHEMA["required"]:
        yield f"no {key}", lambda t, key=key: t.pop(key)
    yield "another version", lambda t: t.update(schema=2)
    yield "a form that is none", lambda t: t.update(form="splines")
    yield "a negative error", lambda t: t.update(error=-1)
    yield "a code that is no number", lambda t: t["codes"].append("1")
    yield "three ends", lambda t: t["domain"].append(1)
    yield "inf below", lambda t: t.update(domain=["inf", 3])
    yield "a weight that is none", lambda t: t["weight"].update(kind="nomral")
    yield "a parameter too many", lambda t: t["weight"].update(median=0)
    yield "a sigma of 0", lambda t: t["weight"].update(sigma=0)
    yield "unbiased with thresholds", lambda t: t.update(form="unbiased")
    yield "even with thresholds below 0", lambda t: t.update(symmetry="even")


def main():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    tables = [(path, json.loads(path.read_text())) for path in (ROOT / "tables").glob("*/*.json")]
    assert len(tables) > 200, "no shipped tables"
    tables += fresh_tables()
    seen = {"kinds": set(), "forms": set(), "symmetries": set()}
    for name, table in tables:
        faults = [f"{name}: {fault.json_path}: {fault.message}"
                  for fault in VALIDATOR.iter_errors(table)]
        assert not faults, "\n".join(faults)
        assert list(table) == SCHEMA["required"], f"{name}: keys, and their order, differ"
        seen["kinds"].add(table["weight"]["kind"])
        seen["forms"].add(table["form"])
        seen["symmetries"].add(table["symmetry"])
    assert len(seen["kinds"]) == len(SCHEMA["properties"]["weight"]["oneOf"]), seen
    assert seen["forms"] == set(SCHEMA["properties"]["form"]["enum"]), seen
    assert seen["symmetries"] == {"none", "even"}, seen

    good = json.loads((ROOT / "tables/gelu/levels_normal_b2.json").read_text())
    for name, change in changes():
        bad = copy.deepcopy(good)
        change(bad)
        assert not VALIDATOR.is_valid(bad), f"the schema accepts {name}"
    print(f"schema: {len(tables)} tables follow it, {len(list(changes()))} changed ones do not")


main()

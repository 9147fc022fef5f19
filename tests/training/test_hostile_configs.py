"""Hostile configs and methods: no string of theirs is imported or run, none takes long or much."""

import copy
import json

from counterpoint.cli.config import read_options
from counterpoint.methods import METHODS, SEVEN, read_method, simclr
from training.test_hostile import guarded

LAUGHS = [f"&x{i} [{','.join([f'*x{i - 1}' if i else 'lol'] * 9)}]" for i in range(9)]


def configs(command, evil):
    """Config files that should be refused, by name."""
    runs = [command]
    texts = {
        "class-path": f"method: {{class_path: os.system, init_args: {{command: {command}}}}}",
        "class-path-of-a-number": "seed: {class_path: subprocess.Popen}",
        "class-path-text": "optimiser: torch.optim.SGD",
        "target": f"method: {{_target_: os.system, command: {command}}}",
        "instantiator": "_instantiator: os.system",
        "hyper-parameters": "hyper_parameters: {_instantiator: os.system}",
        "tag-apply": f"method: !!python/object/apply:os.system {runs}",
        "tag-new": f"!!python/object/new:os.system {runs}",
        "tag-name": "method: !!python/name:os.system",
        "tag-module": "method: !!python/module:os",
        "tag-binary": "method: !!binary aGVsbG8=",
        "tag-own": "method: !evil x",
        "parts": f"parts: {evil}",
        "parts-json": f'{{"parts": "{evil}"}}',
        "laughs": "\n".join(f"x{i}: {text}" for i, text in enumerate(LAUGHS)),
        "laughs-in-an-option": f"method: [{', '.join(LAUGHS)}]",
        "laughs-merged": "a0: &a0 {k: 1}\n"
        + "\n".join(f"a{i}: &a{i} {{<<: [{','.join([f'*a{i - 1}'] * 9)}]}}" for i in range(1, 9)),
        "itself": "method: &a [*a]",
        "deep": "method: " + "[" * 100_000,
        "deep-closed": "method: " + "[" * 30_000 + "]" * 30_000,
        "deep-tables": "method: " + "{a: " * 15_000,
        "deep-lines": "\n".join(" " * i + "a:" for i in range(300)),
        "deep-json": '{"a":' * 10_000,
        "digits": "epochs: " + "9" * 60_000,
        "digits-hex": "epochs: 0x" + "f" * 60_000,
        "digits-60": "epochs: " + ":".join(["59"] * 20_000),
        "digits-long": "epochs: " + "9" * 5_000_000,
        "type-list": "epochs: [1, 2]",
        "type-bool": "epochs: yes",
        "type-text": "epochs: many",
        "type-table": "data: {a: b}",
        "not-a-table": "- a\n- b",
        "not-a-table-2": "hello",
        "empty": "",
        "unknown": "nothing: 1",
        "key-number": "{1: 2}",
        "key-list": "{[1, 2]: 3}",
        "key-long": "a" * 60_000 + ": 1",
        "subcommand": "subcommand: evaluate",
        "torn": "method: [a, b",
        "tabs": "method:\n\t- a",
    }
    raw = {
        "utf-16": "seed: 1".encode("utf-16"),
        "not-utf-8": b"method: \x80\x81",
        "nul": b"method: a\x00b",
        "pickle": b"\x80\x04cos\nsystem\n(S'true'\ntR.",
        "zeros": bytes(10_000),
    }
    return {name: text.encode() for name, text in texts.items()} | raw


def write(root, cases, *, good):
    (root / "cases").mkdir()
    for name, content in cases.items():
        (root / "cases" / name).write_bytes(content)
    for name, content in good.items():
        (root / name).write_text(content)


def judged(cases, last, *, count):
    assert len(cases) == count
    assert [one for one in cases if not one["outcome"].startswith("refused: ")] == []
    assert [one for one in cases if one["ran"]] == []
    assert max(one["seconds"] for one in cases) < 10
    assert last["grown"] < 100 << 20, last["grown"] >> 20
    assert "pickle.find_class" in last["noticed"], "the watch itself saw nothing"


def test_hostile_configs_are_refused(tmp_path):
    canary, evil = tmp_path / "canary", tmp_path / "evil.py"
    evil.write_text(f"open({str(canary)!r}, 'a').write('run\\n')")
    hostile = configs(f"echo run >> {canary}", evil)
    write(tmp_path, hostile, good={"good.yaml": "seed: 3\n"})
    cases, last = guarded("configs", tmp_path, command=f"echo run >> {canary}")
    judged(cases, last, count=len(hostile))
    assert canary.read_text() == "run\n", "once, by the control at the end"


def test_a_good_config_is_read():
    text = "method: moco\nepochs: 3\nlr: 1e-3\ncompile: true\nfractions: [0.1, 1.0]\n"
    assert read_options(text) == {
        "method": "moco",
        "epochs": 3,
        "lr": 1e-3,
        "compile": True,
        "fractions": [0.1, 1.0],
    }


def methods():
    """Methods that should be refused, by name."""
    good = json.loads(simclr().to_json())
    parts = {
        "class-path": {"class_path": "os.system"},
        "target": {"_target_": "os.system", "command": "true"},
        "part": {"part": "os.system"},
        "part-dunder": {"part": "__import__"},
        "part-list": {"part": ["NCE"]},
        "part-null": {"part": None},
        "instantiator": {"part": "NCE", "_instantiator": "os.system"},
        "dunder": {"part": "NCE", "__class__": "os"},
        "number": 1,
        "text": "os.system",
        "list": [],
        "other-part": good["views"],
        "method": good,
    }
    found = {f"loss-{name}": good | {"loss": value} for name, value in parts.items()}
    values = {"digits": 10**4000, "text": "1", "null": None, "bool": True, "list": [1], "table": {}}
    for name, value in values.items():
        found[f"tau-{name}"] = good | {"similarity": good["similarity"] | {"tau": value}}
    found["missing"] = {"part": "Method"}
    found["incomplete"] = {key: value for key, value in good.items() if key != "loss"}
    found["nothing"] = None
    written = {name: json.dumps(value).encode() for name, value in found.items()}
    text = simclr().to_json()
    raw = {
        "nan": text.replace('"tau":', '"tau":NaN,"tau":', 1),
        "too-large": text.replace('"tau":0.5', '"tau":1e999'),
        "digits": text.replace('"tau":0.5', '"tau":' + "9" * 100_000),
        "twice": text.replace('"part":', '"part":"os.system","part":', 1),
        "deep": "[" * 100_000,
        "deep-closed": "[" * 100_000 + "]" * 100_000,
        "deep-400": "[" * 400 + "]" * 400,
        "deep-parts": '{"part":"MomentumEncoder","of":' * 300 + "1" + "}" * 300,
        "yaml": "part: !!python/object/apply:os.system ['true']",
        "empty": "",
        "many": '{"part":"Method","views":[' + "1," * 1_000_000 + "1]}",
    }
    assert all(change != text for change in raw.values())
    written |= {name: change.encode() for name, change in raw.items()}
    return written | {"utf-16": text.encode("utf-16"), "not-utf-8": b'{"part":"\xff"}'}


def test_hostile_methods_are_refused(tmp_path):
    hostile = methods()
    write(tmp_path, hostile, good={"good.json": simclr().to_json()})
    cases, last = guarded("methods", tmp_path, command="true")
    judged(cases, last, count=len(hostile))
    assert [one for one in cases if len(one["outcome"]) > 400] == []


def places(data, way=()):
    """Every place in nested data."""
    yield way
    for key in (
        data if isinstance(data, dict) else range(len(data) if isinstance(data, list) else 0)
    ):
        yield from places(data[key], (*way, key))


def test_any_wrong_value_at_any_place_of_any_method_is_a_clean_error():
    """Read, or refused with a ValueError: never another error from inside a part."""
    wrong = [2**70, "x", None, [[1]], {"part": "NCE"}]
    read = refused = 0
    for name in SEVEN:
        whole = json.loads(METHODS[name]().to_json())
        for way in places(whole):
            for value in wrong if way else []:
                changed = copy.deepcopy(whole)
                inner = changed
                for key in way[:-1]:
                    inner = inner[key]
                inner[way[-1]] = value
                try:
                    read_method(json.dumps(changed))
                    read += 1
                except ValueError:
                    refused += 1
    assert refused > 8 * read > 0, (refused, read)

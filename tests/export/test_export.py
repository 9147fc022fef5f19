"""What is exported, the card about it, and the command."""

import json
from dataclasses import replace

import onnxruntime
import pytest
import timm
import torch
import yaml

import counterpoint
from counterpoint.cli import main
from counterpoint.data.tensor_file import write_tensors
from counterpoint.encoder_choice import open_encoder
from counterpoint.export import routes as route_list
from counterpoint.export.card import CardMaterial, card
from counterpoint.export.exported_encoder import EXPORT
from counterpoint.export.own_folder import OwnFolder
from counterpoint.export.proof import Difference
from counterpoint.export.route import WEIGHTS
from counterpoint.export.routes import choose_routes, refuse_missing
from counterpoint.export.subject import subject_of
from counterpoint.export.timm_folder import TimmFolder, crop_share
from counterpoint.parts.encoders import ResNet
from counterpoint.report.findings import read_findings
from export.subjects import run_with

BYTES = torch.randint(0, 256, (4, 3, 32, 32), dtype=torch.uint8, generator=torch.manual_seed(0))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A bare encoder exported by the command, as bytes in, without a word about a licence."""
    folder = tmp_path_factory.mktemp("command") / "made"
    words = ["--encoder", "small", "--size", "32", "--only", "onnx,counterpoint", "--bytes"]
    main(["export", *words, "--out", str(folder)])
    return folder


def test_what_the_command_makes(made):
    assert sorted(file.name for file in made.iterdir()) == sorted(
        ["README.md", "model.safetensors", EXPORT, "model.onnx", "proof.npz"]
    )
    assert list(made.parent.iterdir()) == [made]
    session = onnxruntime.InferenceSession(made / "model.onnx")
    assert session.get_inputs()[0].type == "tensor(uint8)"
    about = session.get_modelmeta().custom_metadata_map
    assert about["normalisation"] == "inside"
    vectors = session.run(["embedding"], {"image": BYTES.numpy()})[0]
    expected = counterpoint.load(made).embed(BYTES)
    torch.testing.assert_close(torch.from_numpy(vectors), expected, rtol=1e-4, atol=1e-5)


def test_the_loaded_encoder_is_that_of_the_run(made):
    run = open_encoder(encoder="small", size=32)
    model = counterpoint.load(made)
    assert not model.training
    assert torch.equal(model.embed(BYTES), run.embed(BYTES))
    views = model.transform(BYTES)
    vectors = model(*views)
    torch.testing.assert_close(vectors, run.embed(BYTES))
    vectors.sum().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_a_damaged_folder_is_not_loaded(made, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has no counterpoint\.json"):
        counterpoint.load(tmp_path)
    record = json.loads((made / EXPORT).read_text())
    (tmp_path / EXPORT).write_text(json.dumps({**record, "format": 99}))
    with pytest.raises(ValueError, match="has format 99, and this version reads 1"):
        counterpoint.load(tmp_path)


def test_the_card_of_a_bare_encoder(made):
    text = (made / "README.md").read_text()
    _, front, body = text.split("---\n", 2)
    read = yaml.safe_load(front)
    assert read["library_name"] == "counterpoint"
    assert read["pipeline_tag"] == "image-feature-extraction"
    assert "license" not in read
    assert "model-index" not in read
    assert read["tags"] == ["onnx"]
    assert "this library did not train it" in body
    assert "Its accuracy was not measured" in body
    assert 'counterpoint.load(".")' in body
    assert body.startswith("\n# small\n")
    assert "None" not in body
    assert "simclr" not in body.lower()
    assert str(made.parent) not in text


def test_the_command_says_how_to_load_it(made, capsys):
    assert made.is_dir()
    with pytest.raises(SystemExit) as stop:
        main(["export", "--encoder", "small", "--size", "32", "--out", str(made)])
    assert "is there already; needs a name that is free" in str(stop.value)
    with pytest.raises(SystemExit) as stop:
        main(["export", "--encoder", "small", "--only", "tim", "--out", "x"])
    assert "did you mean timm?" in str(stop.value)


def test_routes_that_do_not_apply_say_why():
    small = subject_of(open_encoder(encoder="small", size=32))
    assert choose_routes(small).left_out == {
        "timm": "timm has no such network",
        "torchvision": "the network is not torchvision's",
    }
    with pytest.raises(ValueError, match="timm was asked for, but timm has no such network"):
        choose_routes(small, ("timm",))
    two = subject_of(run_with(method="cmc-small", size=32))
    assert [route.name for route in choose_routes(two).routes] == ["counterpoint"]


def test_without_the_extra_onnx_is_left_out_or_refused(monkeypatch):
    there = route_list.find_spec
    monkeypatch.setattr(
        route_list, "find_spec", lambda name: None if name == "onnxscript" else there(name)
    )
    subject = subject_of(open_encoder(encoder="small", size=32))
    said = "onnxscript is not installed; pip install 'counterpoint[onnx]'"
    assert choose_routes(subject).left_out["onnx"] == said
    refuse_missing(("timm",))
    with pytest.raises(ImportError, match="onnx was asked for, but onnxscript is not installed"):
        refuse_missing(("onnx",))


def test_the_twin_is_the_moving_average():
    run = run_with(method="moco-small", size=32)
    with torch.no_grad():
        for weights in run.model.encoder.twin.parameters():
            weights.mul_(1.1)
    view = run.transform(BYTES)[0]
    for twin, net in ((False, run.model.encoder.online), (True, run.model.encoder.twin)):
        expected = net.eval()((view,))[0][-2].mean(dim=(2, 3))
        found = subject_of(run, twin=twin).representation(BYTES)
        torch.testing.assert_close(found, expected)
    with pytest.raises(ValueError, match="--twin needs a momentum method"):
        subject_of(open_encoder(encoder="small", size=32), twin=True)


def test_half_precision_and_channels_are_left_behind():
    run = open_encoder(encoder="small", size=32)
    run.model.bfloat16()
    subject = subject_of(run)
    assert {p.dtype for p in subject.model.encoder.parameters()} == {torch.float32}
    assert not subject.network.training


@pytest.mark.parametrize("name", ["resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2"])
def test_resnets_of_torchvision_are_those_of_timm_to_the_bit(name):
    subject = subject_of(run_with(ResNet(name, stem="imagenet"), size=32))
    assert subject.architecture is not None
    net = timm.create_model(subject.architecture.name, num_classes=0).eval()
    net.load_state_dict(subject.backbone.state_dict())
    batch = torch.randn(2, 3, 32, 32, generator=torch.manual_seed(0))
    theirs = subject.network.encoder.backbone  # torchvision's own, not in channels last
    with torch.no_grad():
        assert torch.equal(net(batch), theirs(batch))


@pytest.mark.parametrize(
    ("name", "call", "said"),
    [
        ("resnet10t", "model(batch)", "`model(x)` gives this vector."),
        ("vit_tiny_patch16_224", "model(batch)", "sets `global_pool` to the average"),
        ("convnext_atto", "forward_features(batch).mean(dim=(2, 3))", "gives another vector:"),
        ("mobilenetv3_small_050", "forward_features(batch)", "another vector, of 1024 numbers"),
    ],
)
def test_the_lines_for_timm_and_what_the_model_itself_gives(name, call, said, tmp_path):
    subject = subject_of(run_with(f"timm/{name}", size=32))
    found = TimmFolder().write(subject, tmp_path)
    assert call in found.lines
    assert said in found.remark


def test_one_channel_keeps_its_stem_in_timm(tmp_path):
    run = open_encoder(encoder="timm/resnet10t", size=32)
    views = run.method.views
    normalise = replace(views.stages[-1], mean=(0.5,), std=(0.25,))
    plain = replace(views, stages=(views.stages[0], views.stages[1], normalise))
    method = run.method.swap(views=plain)
    one = replace(run, method=method, model=method.build(image=(1, 32, 32)), image=(1, 32, 32))
    subject = subject_of(one)
    write_tensors(tmp_path / WEIGHTS, subject.backbone.state_dict())
    TimmFolder().write(subject, tmp_path)
    net = timm.create_model(f"local-dir:{tmp_path}", pretrained=True).eval()
    batch = torch.randn(2, 1, 32, 32, generator=torch.manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(net(batch), subject.network(batch))


@pytest.mark.parametrize("side", [32, 64, 96, 128, 160, 224, 299, 384])
@pytest.mark.parametrize("short", [0, 1, 8, 32, 100])
def test_crop_share_is_read_back_by_timm(side, short):
    share = crop_share(side, side + short)
    assert int(side / share) == side + short


def test_a_card_says_what_a_run_knows(tmp_path):
    from report.example import write_evaluation, write_health, write_run

    write_run(tmp_path / "mine")
    write_health(tmp_path / "mine")
    write_evaluation(tmp_path / "mine")
    subject = subject_of(open_encoder(encoder="small", size=32), licence="cc-by-4.0")
    found = OwnFolder().write(subject, tmp_path)
    text = card(
        CardMaterial(
            run=read_findings(tmp_path / "mine"),
            subject=subject,
            routes=(OwnFolder(),),
            loading={"counterpoint": found},
            differences=(Difference("counterpoint", 1e-7, 2e-7, 1.0),),
            width=256,
            real=True,
        )
    )
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["license"] == "cc-by-4.0"
    (result,) = front["model-index"][0]["results"]
    assert all(0 < metric["value"] < 1 for metric in result["metrics"])
    assert found.lines in text
    for heading in (
        "Load it",
        "Training",
        "The five parts",
        "Views",
        "Accuracy",
        "Health",
        "Limits",
    ):
        assert f"\n## {heading}\n" in text
    assert "| counterpoint | 1.0e-07 | 2.0e-07 |" in text


@pytest.mark.parametrize(
    ("method", "twin", "record", "said", "unsaid"),
    [
        ("simclr-small", False, {}, "## Accuracy", "was not measured"),
        ("simclr-small", False, {"steps": 3}, "was not measured", "## Accuracy"),
        ("simclr-small", False, {"map": 0}, "was not measured", "model-index"),
        ("moco-small", True, {}, "was not measured", "model-index"),
        ("supcon-small", False, {}, "that was trained with labels", "self-supervised-learning"),
    ],
)
def test_a_card_has_the_accuracies_of_what_is_exported(
    method, twin, record, said, unsaid, tmp_path
):
    """Not of fewer steps, of another map, or of the encoder that a twin follows."""
    from report.example import write_evaluation, write_run

    write_run(tmp_path)
    write_evaluation(tmp_path)
    file = tmp_path / "evaluation.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **record}))
    subject = subject_of(run_with("small", size=32, method=method), twin=twin)
    text = card(
        CardMaterial(
            run=read_findings(tmp_path),
            subject=subject,
            routes=(),
            loading={},
            differences=(),
            width=256,
            real=True,
        )
    )
    assert said in text
    assert unsaid not in text

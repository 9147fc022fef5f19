"""Photos as others pack them: webdataset's tars, and Parquet as on the Hugging Face Hub."""

import io
import json
import tarfile

import pyarrow as pa
import pyarrow.parquet as parquet

STRUCT = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def photo_files(data, *, every=8):
    """Return photos of caltech20 with their class, in the order of their paths."""
    files = sorted((data / "caltech20").glob("*/*.jpg"))[::every]
    classes = sorted({file.parent.name for file in files})
    return [(file, classes.index(file.parent.name)) for file in files], classes


def add(tar, name, content, **more):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    for key, value in more.items():
        setattr(member, key, value)
    tar.addfile(member, io.BytesIO(content))


def pack_tar(path, samples, *, label="cls", form=tarfile.USTAR_FORMAT):
    """Write (file, label) as webdataset does: members of one key for each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w", format=form) as tar:
        for number, (file, one) in enumerate(samples):
            add(tar, f"{number:06d}.jpg", file.read_bytes())
            if label == "cls":
                add(tar, f"{number:06d}.cls", b"%d" % one)
            elif label == "json":
                add(tar, f"{number:06d}.json", json.dumps({"label": one, "w": [1]}).encode())


def pack_parquet(path, samples, classes, *, groups):
    """Write (file, label) in row groups of the sizes given, with the features of the Hub."""
    path.parent.mkdir(parents=True, exist_ok=True)
    features = {
        "image": {"_type": "Image"},
        "label": {"_type": "ClassLabel", "names": list(classes)},
    }
    said = json.dumps({"info": {"features": features}}).encode()
    schema = pa.schema([("image", STRUCT), ("label", pa.int64())], {"huggingface": said})
    assert sum(groups) == len(samples)
    with parquet.ParquetWriter(path, schema) as writer:
        for count in groups:
            some, samples = samples[:count], samples[count:]
            images = [{"bytes": file.read_bytes(), "path": file.name} for file, _ in some]
            columns = [pa.array(images, STRUCT), pa.array([label for _, label in some])]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))

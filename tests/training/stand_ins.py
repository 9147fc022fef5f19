"""Grey images whose shade is their label, some of which cannot be read."""

from types import SimpleNamespace

from PIL import Image

from counterpoint import Training
from counterpoint.data import image_files
from counterpoint.framework import Draw
from counterpoint.parts.extraction import ByLabel
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Cosine
from counterpoint.parts.views import pipelines
from counterpoint.training.distributed import world
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.training.step import samples_of
from toy import tiny_method

SHADES = 3
SUPERVISED = tiny_method(
    extraction=ByLabel(), similarity=Cosine(tau=0.2), loss=NCE(denominator="all")
)


def shade(label):
    return 100 * label


def write_shades(folder, *, each=8, broken=3):
    """A class folder for each shade; the first files of each are broken."""
    for label in range(SHADES):
        (folder / str(label)).mkdir(parents=True)
        for number in range(each):
            file = folder / str(label) / f"{number}.png"
            Image.new("RGB", (16, 16), (shade(label),) * 3).save(file)
            if number < broken:
                file.write_bytes(b"text")
    return image_files(folder)


def shades_of(batch):
    """The labels that the images of a batch show."""
    means = batch.images[0].float().mean(dim=(1, 2, 3))
    return (means / shade(1)).round().long()


def labels_of_step(folder):
    """The labels that this rank knows of all ranks, and those that its own images show."""
    source, training = image_files(folder), Training(batch=24)
    model = SUPERVISED.build(image=(3, 16, 16))
    module = Pretrainer(model, source, training, steps=1)
    module.world = world(batch=24)
    begun = SimpleNamespace(current=SimpleNamespace(ready=1))  # the first step of a Trainer
    module.trainer = SimpleNamespace(
        world_size=module.world.size,
        global_rank=module.world.rank,
        fit_loop=SimpleNamespace(epoch_loop=SimpleNamespace(batch_progress=begun)),
    )
    batches = module.trainer.train_dataloader = module.train_dataloader()
    (index,) = batches.sampler.shares()
    cut = pipelines.simclr_views(16).build((3, 16, 16)).cut
    batch = source.read(cut, Draw(0, 0, index))
    samples = samples_of(model, source, batch)
    return module._world_of(samples), samples.labels, shades_of(batch)

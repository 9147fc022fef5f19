"""The options --encoder and --weights of commands that otherwise take a run."""


def refuse_no_encoder(command: str, run: object, encoder: str | None) -> None:
    """Refuse a command without anything that embeds."""
    if not run and encoder is None:
        raise ValueError(
            f"{command} needs the folder of a run, or --encoder and --weights; "
            f"counterpoint {command} --help shows an example"
        )


def encoder_words(encoder: str | None, weights: str | None) -> str:
    """Name an encoder without a run.

    >>> encoder_words("timm/resnet18", None)
    'timm/resnet18 with random weights'
    """
    return f"{encoder} with {'random weights' if weights is None else f'the weights {weights}'}"

"""What users of contrastive libraries ask, and the page that answers it.

Number of the complaint in our survey of 73 threads, the words to type, the guide that answers it.
"""

QUESTIONS = (
    # Training on several GPUs
    (1, "gather gradient ranks", "gpus"),
    (2, "gradient world size ddp", "gpus"),
    (3, "local negatives other ranks", "gpus"),
    (4, "local loss gather with grad", "gpus"),
    (5, "loss times world size", "gpus"),
    (6, "local negatives only", "gpus"),
    (7, "all_gather deprecated", "gpus"),
    (8, "accumulation negatives", "batch"),
    (9, "large batch one GPU GradCache", "batch"),
    (10, "SyncBN batch norm", "gpus"),
    (11, "EMA teacher momentum buffers", "reliability"),
    (12, "queue resume checkpoint", "reliability"),
    (13, "learning rate scaling batch", "batch"),
    # Is it learning?
    (14, "when to stop training", "health"),
    (15, "what loss is good", "health"),
    (16, "flat loss own data", "health"),
    (17, "collapse constant loss", "health"),
    (18, "small batch defaults", "batch"),
    (19, "SimCLR diverges fp16", "health"),
    (20, "NaN half precision", "health"),
    (21, "accuracy without labels", "evaluation"),
    # Images without labels
    (22, "folder without labels", "data"),
    (23, "no validation set", "data"),
    (24, "folder scanned again every start", "data"),
    (25, "million files memory slow", "shards"),
    (26, "corrupt image", "data"),
    (27, "16-bit channels images", "data"),
    (28, "number of workers", "data"),
    # Shards, streaming, resume
    (29, "hang unequal batches shards", "shards"),
    (30, "same order every rank", "shards"),
    (31, "webdataset epoch length", "shards"),
    (32, "resume webdataset", "shards"),
    (33, "resume streaming S3 workers", "shards"),
    (34, "mid-epoch resume", "reliability"),
    (35, "resume SLURM data position", "cluster"),
    (36, "persistent workers seed order", "data"),
    (37, "filter drops every sample", "shards"),
    (38, "shuffle streaming slow", "shards"),
    (39, "checkpoints to S3", "cluster"),
    # Views
    (40, "GPU waits for augmentation", "views"),
    (41, "views on the GPU", "views"),
    (42, "kornia ColorJitter torchvision", "views"),
    (43, "speed of augmentation compiled", "views"),
    (44, "DALI epochs", "views"),
    (45, "ffcv color jitter", "views"),
    (46, "torchvision v2 speed", "views"),
    # Results that others can repeat
    (47, "published checkpoint evaluates", "weights"),
    (48, "reproduce the paper's accuracy", "choose"),
    (49, "pretrained checkpoints download", "weights"),
    (50, "SimCLR temperature projection head", "recipes"),
    (51, "batch and epochs of the paper", "recipes"),
    (52, "LARS optimiser", "recipes"),
    # Dependencies
    (53, "pl_bolts import error", "coming-from"),
    (54, "model must be a LightningModule", "python"),
    (55, "lightning malware", "privacy"),
    (56, "CVE checkpoint load", "privacy"),
    (57, "weights_only checkpoint", "privacy"),
    (58, "load checkpoint without jsonargparse", "privacy"),
    (59, "albumentations licence", "privacy"),
    (60, "torchdata DataPipes", "data"),
    (61, "faiss segfault macOS", "curate"),
    (62, "torch.compile crash", "reliability"),
    # Jobs
    (63, "torchrun without SLURM", "cluster"),
    (64, "SLURM requeue SIGTERM", "cluster"),
    (65, "progress bar log file", "cluster"),
    # Weights out
    (66, "backbone weights key names", "weights"),
    (67, "continue training exported model", "weights"),
    (68, "timm offline weights", "weights"),
    (69, "model card hub", "weights"),
    # Licence
    (70, "DINOv3 licence", "weights"),
    (71, "AGPL commercial licence", "privacy"),
    # Settings
    (72, "config override order", "recipes"),
    (73, "sweep hyperparameters", "studies"),
)

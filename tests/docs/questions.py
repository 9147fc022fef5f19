"""What users of contrastive libraries ask, and the page that answers it.

Number of the complaint in our survey of 73 threads, the words to type, the page wanted.
"""

QUESTIONS = (
    # Training on several GPUs
    (1, "gather gradient ranks", "gpus"),
    (2, "gradient world size ddp", "questions"),
    (3, "local negatives other ranks", "questions"),
    (4, "local loss gather with grad", "questions"),
    (5, "loss times world size", "questions"),
    (6, "local negatives only", "questions"),
    (7, "all_gather deprecated", "questions"),
    (8, "accumulation negatives", "batch"),
    (9, "large batch one GPU GradCache", "batch"),
    (10, "SyncBN batch norm", "questions"),
    (11, "EMA teacher momentum buffers", "questions"),
    (12, "queue resume checkpoint", "questions"),
    (13, "learning rate scaling batch", "questions"),
    # Is it learning?
    (14, "when to stop training", "questions"),
    (15, "what loss is good", "questions"),
    (16, "flat loss own data", "questions"),
    (17, "collapse constant loss", "health"),
    (18, "small batch defaults", "batch"),
    (19, "SimCLR diverges fp16", "questions"),
    (20, "NaN half precision", "questions"),
    (21, "accuracy without labels", "questions"),
    # Images without labels
    (22, "folder without labels", "data"),
    (23, "no validation set", "data"),
    (24, "folder scanned again every start", "data"),
    (25, "million files memory slow", "shards"),
    (26, "corrupt image", "questions"),
    (27, "16-bit channels images", "data"),
    (28, "number of workers", "questions"),
    # Shards, streaming, resume
    (29, "hang unequal batches shards", "questions"),
    (30, "same order every rank", "shards"),
    (31, "webdataset epoch length", "shards"),
    (32, "resume webdataset", "questions"),
    (33, "resume streaming S3 workers", "questions"),
    (34, "mid-epoch resume", "questions"),
    (35, "resume SLURM data position", "questions"),
    (36, "persistent workers seed order", "questions"),
    (37, "filter drops every sample", "questions"),
    (38, "shuffle streaming slow", "questions"),
    (39, "checkpoints to S3", "cluster"),
    # Views
    (40, "GPU waits for augmentation", "questions"),
    (41, "views on the GPU", "views"),
    (42, "kornia ColorJitter torchvision", "questions"),
    (43, "speed of augmentation compiled", "questions"),
    (44, "DALI epochs", "questions"),
    (45, "ffcv color jitter", "questions"),
    (46, "torchvision v2 speed", "views"),
    # Results that others can repeat
    (47, "published checkpoint evaluates", "questions"),
    (48, "reproduce the paper's accuracy", "results"),
    (49, "pretrained checkpoints download", "questions"),
    (50, "SimCLR temperature projection head", "questions"),
    (51, "batch and epochs of the paper", "recipes"),
    (52, "LARS optimiser", "questions"),
    # Dependencies
    (53, "pl_bolts import error", "questions"),
    (54, "model must be a LightningModule", "questions"),
    (55, "lightning malware", "questions"),
    (56, "CVE checkpoint load", "questions"),
    (57, "weights_only checkpoint", "questions"),
    (58, "load checkpoint without jsonargparse", "questions"),
    (59, "albumentations licence", "questions"),
    (60, "torchdata DataPipes", "questions"),
    (61, "faiss segfault macOS", "questions"),
    (62, "torch.compile crash", "questions"),
    # Jobs
    (63, "torchrun without SLURM", "cluster"),
    (64, "SLURM requeue SIGTERM", "cluster"),
    (65, "progress bar log file", "questions"),
    # Weights out
    (66, "backbone weights key names", "questions"),
    (67, "continue training exported model", "questions"),
    (68, "timm offline weights", "questions"),
    (69, "model card hub", "weights"),
    # Licence
    (70, "DINOv3 licence", "questions"),
    (71, "AGPL commercial licence", "questions"),
    # Settings
    (72, "config override order", "questions"),
    (73, "sweep hyperparameters", "questions"),
)

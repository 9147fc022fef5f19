"""What users of contrastive libraries ask, and the page that answers it.

Number of the complaint in our survey of 73 threads, the words to type, the page wanted.
"""

QUESTIONS = (
    # Training on several GPUs
    (1, "gather gradient ranks", "gpus"),
    (2, "gradient world size ddp", "gpus"),
    (3, "negatives of other ranks", "gpus"),
    (4, "local loss gather with grad", "gpus"),
    (5, "loss times world size", "gpus"),
    (6, "local negatives only", "gpus"),
    (7, "all_gather deprecated", "gpus"),
    (8, "accumulation negatives", "batch"),
    (9, "large batch one GPU GradCache", "batch"),
    (10, "SyncBN batch norm", "gpus"),
    (11, "EMA teacher momentum buffers", "gpus"),
    (12, "queue resume checkpoint", "gpus"),
    (13, "learning rate scaling batch", "batch"),
    # Is it learning?
    (14, "when to stop training", "learning"),
    (15, "what loss is good", "learning"),
    (16, "flat loss own data", "learning"),
    (17, "collapse constant loss", "learning"),
    (18, "small batch defaults", "batch"),
    (19, "SimCLR diverges fp16", "learning"),
    (20, "NaN half precision", "learning"),
    (21, "accuracy without labels", "learning"),
    # Images without labels
    (22, "folder without labels", "data"),
    (23, "no validation set", "data"),
    (24, "folder scanned again every start", "data"),
    (25, "million files memory slow", "data"),
    (26, "corrupt image", "data"),
    (27, "16-bit channels images", "data"),
    (28, "number of workers", "data"),
    # Shards, streaming, resume
    (29, "hang unequal batches shards", "scale"),
    (30, "same order every rank", "scale"),
    (31, "webdataset epoch length", "scale"),
    (32, "resume webdataset", "scale"),
    (33, "resume streaming S3 workers", "scale"),
    (34, "mid-epoch resume", "launch"),
    (35, "resume SLURM data position", "launch"),
    (36, "persistent workers seed order", "launch"),
    (37, "filter drops every sample", "scale"),
    (38, "shuffle streaming slow", "scale"),
    (39, "checkpoints to S3", "scale"),
    # Views
    (40, "GPU waits for augmentation", "views"),
    (41, "views on the GPU", "views"),
    (42, "kornia ColorJitter torchvision", "views"),
    (43, "speed of augmentation compiled", "views"),
    (44, "DALI epochs", "views"),
    (45, "ffcv color jitter", "views"),
    (46, "torchvision v2 speed", "views"),
    # Results that others can repeat
    (47, "published checkpoint evaluates", "evaluation"),
    (48, "reproduce the paper's accuracy", "results"),
    (49, "pretrained checkpoints download", "weights"),
    (50, "SimCLR temperature projection head", "methods/simclr"),
    (51, "batch and epochs of the paper", "recipes"),
    (52, "LARS optimiser", "recipes"),
    # Dependencies
    (53, "pl_bolts import error", "coming-from"),
    (54, "model must be a LightningModule", "errors"),
    (55, "lightning malware", "security"),
    (56, "CVE checkpoint load", "security"),
    (57, "weights_only checkpoint", "security"),
    (58, "load checkpoint without jsonargparse", "weights"),
    (59, "albumentations licence", "security"),
    (60, "torchdata DataPipes", "coming-from"),
    (61, "faiss segfault macOS", "errors"),
    (62, "torch.compile crash", "errors"),
    # Jobs
    (63, "torchrun without SLURM", "launch"),
    (64, "SLURM requeue SIGTERM", "launch"),
    (65, "progress bar log file", "launch"),
    # Weights out
    (66, "backbone weights key names", "weights"),
    (67, "continue training exported model", "weights"),
    (68, "timm offline weights", "weights"),
    (69, "model card hub", "weights"),
    # Licence
    (70, "DINOv3 licence", "security"),
    (71, "AGPL commercial licence", "security"),
    # Settings
    (72, "config override order", "errors"),
    (73, "sweep hyperparameters", "studies"),
)

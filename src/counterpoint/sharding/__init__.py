"""Write the images of any data set as shards: mixed, checked, part by part."""

from counterpoint.sharding.sharding_job import ShardingJob as ShardingJob

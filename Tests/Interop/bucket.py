"""A bucket whose keys need care: `bucket.py ENDPOINT COUNT` fills it, and `read` is the truth."""

import sys
from concurrent.futures import ThreadPoolExecutor

import boto3
from botocore.config import Config

BUCKET = "awkward-keys"

# What a query, a form or XML writes in another way; the slash is what a delimiter cuts at.
PARTS = ["a b", "a+b", "a&b", "50%", "%2B", "é", "中", "<tag>", "quote\"'", "dir/x", "dir+é/y"]


def client(endpoint):
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(s3={"addressing_style": "path"}),
    )


def fill(endpoint, count):
    storage = client(endpoint)
    storage.create_bucket(Bucket=BUCKET)

    def put(number):
        key = f"{PARTS[number % len(PARTS)]} {number}"
        storage.put_object(Bucket=BUCKET, Key=key, Body=b"x" * (number % 50))

    with ThreadPoolExecutor(max_workers=8) as workers:
        list(workers.map(put, range(count)))


def read(endpoint, operation, page_size=1000, **parameters):
    """What boto3 lists, page by page: the objects of each page, then its prefixes."""
    pages = client(endpoint).get_paginator(operation)
    sized = {"PageSize": page_size}
    rows = []
    for page in pages.paginate(Bucket=BUCKET, PaginationConfig=sized, **parameters):
        for item in page.get("Contents", []):
            rows.append({"Key": item["Key"], "Size": item["Size"], "ETag": item["ETag"]})
        rows += [{"Prefix": item["Prefix"]} for item in page.get("CommonPrefixes", [])]
    return rows


if __name__ == "__main__":
    fill(sys.argv[1], int(sys.argv[2]))

"""What is drained of the servers that answer in XML, and the rows each must yield."""

from urllib.parse import unquote_plus

import bucket
import repository
from listings import Listing


def encoded(item):
    """An object or a prefix as boto3 has it: names form-encoded, numbers as texts."""
    if "Prefix" in item:
        return {"Prefix": unquote_plus(item["Prefix"])}
    return {"Key": unquote_plus(item["Key"]), **plain(item, "Size", "ETag")}


def plain(item, *names):
    return {name: int(item[name]) if name == "Size" else item[name] for name in names}


def s3(endpoint):
    """Both listings of S3, with names as they are, form-encoded, and cut at a delimiter."""
    url = f"{endpoint}/{bucket.BUCKET}"
    new, old = ["--preset", "s3"], ["--preset", "s3v1"]
    sized, cut = ["--page-size", "137"], ["--param", "delimiter=/", "--page-size", "500"]
    encoding = ["--param", "encoding-type=url"]
    # Servers need not give a NextMarker: the last key, decoded, must do.
    by_key = ["--next", "last:/Key", "--send", "query:marker"]
    by_key += ["--end", "flag:/ListBucketResult/IsTruncated"]
    by_key += ["--items", "/ListBucketResult/Contents"]
    objects = bucket.read(endpoint, "list_objects_v2")
    grouped = bucket.read(endpoint, "list_objects_v2", 500, Delimiter="/")
    grouped_old = bucket.read(endpoint, "list_objects", 500, Delimiter="/")

    def named(item):
        return plain(item, "Key", "Size", "ETag")

    return [
        Listing("S3, ListObjectsV2", url, new, 1000, objects, named),
        Listing("S3, ListObjectsV2, small pages", url, new + sized, 137, objects, named),
        Listing("S3, ListObjectsV2, encoded", url, new + sized + encoding, 137, objects, encoded),
        Listing("S3, ListObjectsV2, delimiter", url, new + cut + encoding, None, grouped, encoded),
        Listing("S3, ListObjects", url, old + sized, 137, objects, encoded),
        Listing("S3, ListObjects, delimiter", url, old + cut, None, grouped_old, encoded),
        Listing("S3, ListObjects, last key", url + "?max-keys=137", by_key, 137, objects, named),
    ]


def oai_pmh(server):
    """Records and identifiers, deleted ones among them, by tokens that must be encoded once."""
    records = repository.read()

    def header(item):
        return {"identifier": item["identifier"], "deleted": item.get("@status") == "deleted"}

    def record(item):
        title = item.get("metadata", {}).get("oai_dc:dc", {}).get("dc:title")
        return {"identifier": item["header"]["identifier"], "title": title}

    how = ["--preset", "oaiPMH", "--param", "metadataPrefix=oai_dc"]
    headers = [
        {"identifier": row["identifier"], "deleted": row["title"] is None} for row in records
    ]
    verb = f"{server}/?verb="
    return [
        Listing("OAI-PMH, ListRecords", verb + "ListRecords", how, 100, records, record),
        Listing("OAI-PMH, ListIdentifiers", verb + "ListIdentifiers", how, 100, headers, header),
    ]

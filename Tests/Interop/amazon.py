"""Tables and zones of Amazon's, over moto: `amazon.py ENDPOINT COUNT` fills them.

Keys are of two types, one a number beyond a double; a zone's listing goes on by name and type.
"""

import sys

import boto3

TABLE = "Awkward"
ZONE = "quire.test."
REGION = "eu-west-1"


def client(endpoint, service):
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id="none",
        aws_secret_access_key="none",
    )


def fill_table(endpoint, count):
    database = client(endpoint, "dynamodb")
    database.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[
            {"AttributeName": "owner", "KeyType": "HASH"},
            {"AttributeName": "serial", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "owner", "AttributeType": "S"},
            {"AttributeName": "serial", "AttributeType": "N"},
        ],
    )
    for start in range(0, count, 25):
        requests = [{"PutRequest": {"Item": item(n)}} for n in range(start, min(start + 25, count))]
        database.batch_write_item(RequestItems={TABLE: requests})


def item(number):
    return {
        "owner": {"S": f"é \"{number % 7}\" &"},
        "serial": {"N": str(12345678901234567890 + number)},
        "tags": {"SS": ["a", "b"]},
        "deep": {"M": {"is": {"BOOL": number % 2 == 0}, "nothing": {"NULL": True}}},
    }


def fill_zone(endpoint, count):
    zones = client(endpoint, "route53")
    zone = zones.create_hosted_zone(Name=ZONE, CallerReference="quire")["HostedZone"]["Id"]
    changes = []
    for number in range(count):
        kind, value = [("A", "192.0.2.1"), ("TXT", f'"a & b {number}"')][number % 2]
        changes.append(
            {
                "Action": "CREATE",
                "ResourceRecordSet": {
                    "Name": f"h{number // 2:04}.{ZONE}",
                    "Type": kind,
                    "TTL": number,
                    "ResourceRecords": [{"Value": value}],
                },
            }
        )
    for start in range(0, count, 100):
        zones.change_resource_record_sets(
            HostedZoneId=zone, ChangeBatch={"Changes": changes[start : start + 100]}
        )


def read_table(endpoint):
    """What boto3 scans, as it comes over the wire: its low-level client leaves types alone."""
    pages = client(endpoint, "dynamodb").get_paginator("scan").paginate(TableName=TABLE)
    return [typed for page in pages for typed in page["Items"]]


def zone_path(endpoint):
    zone = client(endpoint, "route53").list_hosted_zones()["HostedZones"][0]["Id"]
    return f"/2013-04-01{zone}/rrset"


def read_zone(endpoint):
    names = client(endpoint, "route53")
    zone = names.list_hosted_zones()["HostedZones"][0]["Id"]
    pages = names.get_paginator("list_resource_record_sets").paginate(HostedZoneId=zone)
    return [
        {"name": row["Name"], "type": row["Type"], "ttl": row.get("TTL")}
        for page in pages
        for row in page["ResourceRecordSets"]
    ]


if __name__ == "__main__":
    fill_table(sys.argv[1], int(sys.argv[2]))
    fill_zone(sys.argv[1], int(sys.argv[2]))

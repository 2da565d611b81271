"""What is drained of services that take more than a GET, and the rows each must yield."""

import json

import amazon
import directory
import intelligence
from listings import Listing, rows


def amazon_services(endpoint):
    """Signed requests: a POST whose cursor is an object of typed values, and a cursor of two parts."""
    scan = ["--preset", "dynamoDB", "--sign", f"aws:dynamodb:{amazon.REGION}"]
    scan += ["-H", "X-Amz-Target: DynamoDB_20120810.Scan"]
    scan += ["--data", json.dumps({"TableName": amazon.TABLE}), "--page-size", "137"]
    zone = ["--preset", "route53", "--sign", "aws:route53:us-east-1", "--page-size", "97"]

    def record(item):
        return {"name": item["Name"], "type": item["Type"], "ttl": int(item["TTL"])}

    table, names = amazon.read_table(endpoint), amazon.read_zone(endpoint)
    path = endpoint + amazon.zone_path(endpoint)
    return [
        Listing("DynamoDB, Scan", endpoint + "/", scan, 137, table),
        Listing("Route 53, record sets", path, zone, 97, names, record),
    ]


def graphql(server, database):
    """A Relay connection: the cursor is a variable in a POST, and the last page has one too."""
    query = """query ($first: Int, $after: String) {
      connection: records(first: $first, after: $after) {
        pageInfo { hasNextPage endCursor } edges { node { name big note } } } }"""
    how = ["--preset", "relay", "--items", "/data/connection", "--data", json.dumps({"query": query})]
    how += ["--page-size", "97"]
    truth = [
        {"name": row["name"], "big": str(row["big"]), "note": row["note"]}
        for row in rows(database)
    ]
    return [
        Listing(
            "GraphQL, Relay connection", f"{server}/graphql/", how, 97, truth,
            lambda item: item["node"],
        )
    ]


def scim(server, count):
    """By an index from 1, of pages smaller than asked for, and by a cursor that starts empty."""
    users, truth = f"{server}/v2/Users?sortBy=userName", directory.read(count)

    def user(item):
        return {name: item[name] for name in ["userName", "displayName"]}

    by_index = ["--preset", "scim", "--page-size", "1000"]
    by_cursor = ["--preset", "scimCursor", "--page-size", "37"]
    return [
        Listing("SCIM, index", users, by_index, 100, truth, user),
        Listing("SCIM, cursor", users, by_cursor, 37, truth, user),
    ]


def taxii(server, count):
    """A flag, and a cursor that names a session: of that, nothing can be asked for twice."""
    how = ["--preset", "taxii", "--page-size", "37", "-H", "Authorization: Basic cXVpcmU6dGVzdA=="]
    url = f"{server}/root/collections/{intelligence.COLLECTION}/objects/"
    truth = [dict(sorted(item.items())) for item in intelligence.read(count)]
    return [Listing("TAXII 2.1, objects", url, how, 37, truth, resumable=False)]

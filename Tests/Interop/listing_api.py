"""A Django project in one file: the table `records` under three styles of Django REST framework's
pages, and as a GraphQL connection.

The database is the file named by the environment variable RECORDS.
"""

import os

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    DATABASES={
        "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["RECORDS"]}
    },
    INSTALLED_APPS=["rest_framework"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="only for loopback",
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "UNAUTHENTICATED_USER": None,
    },
)
django.setup()

from typing import Iterable  # noqa: E402

import strawberry  # noqa: E402
from django.core.asgi import get_asgi_application  # noqa: E402
from django.db import models  # noqa: E402
from django.urls import path  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402
from rest_framework import generics, pagination, serializers  # noqa: E402
from strawberry import relay  # noqa: E402
from strawberry.django.views import GraphQLView  # noqa: E402


class Record(models.Model):
    name = models.TextField()
    big = models.BigIntegerField()
    ratio = models.FloatField()
    note = models.TextField(null=True)

    class Meta:
        app_label = "interop"
        db_table = "records"
        managed = False


class RecordSerializer(serializers.ModelSerializer):
    class Meta:
        model = Record
        fields = ["id", "name", "big", "ratio", "note"]


class PageNumbers(pagination.PageNumberPagination):
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000


class LimitAndOffset(pagination.LimitOffsetPagination):
    default_limit = 100
    max_limit = 1000


class Cursors(pagination.CursorPagination):
    # Long runs of equal values: the cursor then carries an offset beside its position.
    ordering = ["big", "id"]
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000


def listing(style):
    """A view that lists all records page by page in this style."""
    return generics.ListAPIView.as_view(
        queryset=Record.objects.order_by("id"),
        serializer_class=RecordSerializer,
        pagination_class=style,
    )


@strawberry.type
class RecordNode(relay.Node):
    """A record; its large number as a text, because GraphQL's own numbers have 32 bits."""

    id: relay.NodeID[int]
    name: str
    big: str
    note: str | None


@strawberry.type
class Query:
    @relay.connection(relay.ListConnection[RecordNode])
    def records(self) -> Iterable[RecordNode]:
        rows = Record.objects.order_by("id")
        return [
            RecordNode(id=row.id, name=row.name, big=str(row.big), note=row.note) for row in rows
        ]


urlpatterns = [
    path("graphql/", csrf_exempt(GraphQLView.as_view(schema=strawberry.Schema(Query)))),
    path("pages/", listing(PageNumbers)),
    path("offsets/", listing(LimitAndOffset)),
    path("cursors/", listing(Cursors)),
]

application = get_asgi_application()

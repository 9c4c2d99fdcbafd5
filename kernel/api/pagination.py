"""Lists are paged: ``?page=``, ``?page_size=`` up to 500, answered with ``count`` and ``results``."""

from typing import Any

from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response

from kernel.api.query import whole_number

MAX_PAGE_SIZE = 500


class PagePagination(PageNumberPagination):
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = MAX_PAGE_SIZE

    def get_page_size(self, request: Request) -> int:
        raw = request.query_params.get("page_size")
        if raw is None:
            return int(self.page_size)
        return whole_number("page_size", raw, 1, MAX_PAGE_SIZE)

    def get_paginated_response(self, data: Any) -> Response:
        if self.page is None:
            raise RuntimeError("a page is taken before it is answered")
        return Response({"count": self.page.paginator.count, "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["count", "results"],
            "properties": {"count": {"type": "integer"}, "results": schema},
        }

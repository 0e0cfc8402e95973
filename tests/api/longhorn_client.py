"""A client as Longhorn's users have one: it knows nothing but where the schemas are, and learns the rest from them.

Actions are methods, bodies are sent without a Content-Type, and who calls is told by Basic authentication.
"""

import json
from base64 import b64encode
from types import SimpleNamespace


class ApiError(Exception):
    def __init__(self, error):
        super().__init__(f"{error.status}: {error.message}")
        self.error = error


class LonghornClient:
    """Over anything with `request(method, url, content=, headers=)`. Made by `connect`."""

    def __init__(self, http, token):
        self._http = http
        self._login = "Basic " + b64encode(f":{token}".encode()).decode()
        self.schemas = {}

    async def connect(self, url):
        found = await self._ask("GET", url)
        for schema in found.data:
            if "GET" in schema.collectionMethods:
                self._bind(schema, "list", lambda where: self._ask("GET", where))
                self._bind(schema, "by_id", self._by_id)
            if "POST" in schema.collectionMethods:
                self._bind(schema, "create", lambda where, **body: self._ask("POST", where, body))
            self.schemas[schema.id] = schema
        return self

    async def delete(self, thing):
        return await self._ask("DELETE", thing.links.self)

    async def update(self, thing, **body):
        return await self._ask("PUT", thing.links.self, body)

    def _bind(self, schema, verb, do):
        where = schema.links.collection

        async def call(*args, **body):
            return await do(where, *args, **body)

        setattr(self, f"{verb}_{schema.id}", call)

    async def _by_id(self, where, identity):
        try:
            return await self._ask("GET", f"{where}/{identity}")
        except ApiError as error:
            if error.error.status == 404:
                return None
            raise

    async def _ask(self, method, url, body=None):
        content = None if body is None else json.dumps(body).encode()
        response = await self._http.request(method, url, content=content, headers={"Authorization": self._login})
        if not response.is_success:
            raise ApiError(SimpleNamespace(**response.json()))
        assert method == "DELETE" or "x-api-schemas" in response.headers
        return self._thing(response.json()) if response.content else None

    def _thing(self, value):
        if isinstance(value, list):
            return [self._thing(item) for item in value]
        if not isinstance(value, dict):
            return value
        thing = SimpleNamespace(**{name: self._thing(item) for name, item in value.items()})
        if isinstance(value.get("actions"), dict) and "type" in value:
            for name, url in value["actions"].items():
                setattr(thing, name, self._action(url))
        return thing

    def _action(self, url):
        async def act(**body):
            return await self._ask("POST", url, body)

        return act

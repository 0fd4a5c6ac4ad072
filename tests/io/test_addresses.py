"""A saved file can be loaded from an address as well as from a folder."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import dpexplain.io
from example_explanations import private_guarantee

GUARANTEE = private_guarantee()
SECRET = "swordfish"


@pytest.fixture
def site():
    """Return the address of a server with one file, one text and nothing else."""
    pages = {"/model.json": dpexplain.io.to_json(GUARANTEE), "/page.html": "<html></html>"}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            page = pages.get(self.path.partition("?")[0])
            self.send_response(200 if page else 404)
            self.end_headers()
            self.wfile.write((page or "").encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_file_is_loaded_from_its_address(site):
    assert dpexplain.io.load(f"{site}/model.json") == GUARANTEE


def test_a_page_that_is_no_saved_file_is_refused_by_its_address(site):
    with pytest.raises(ValueError, match=r"cannot load 'http://127.*/page.html'"):
        dpexplain.io.load(f"{site}/page.html")


def test_a_missing_page_is_an_error_that_states_the_status(site):
    with pytest.raises(OSError, match=r"answers with status 404\. Check the address"):
        dpexplain.io.load(f"{site}/other.json")


def test_an_answer_that_is_too_large_is_refused(site):
    with pytest.raises(ValueError, match="limit of 10"):
        dpexplain.io.load(f"{site}/model.json", max_bytes=10)


def test_errors_repeat_no_password_and_no_token(site):
    host = site.removeprefix("http://")
    for path in ("other.json", "page.html"):
        address = f"http://ann:{SECRET}@{host}/{path}?token={SECRET}#{SECRET}"
        with pytest.raises((OSError, ValueError)) as caught:
            dpexplain.io.load(address)
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None


def test_a_server_that_does_not_answer_is_an_error_that_says_what_to_do():
    with pytest.raises(OSError, match="download the file and pass its path"):
        dpexplain.io.load("http://127.0.0.1:1/model.json")

"""The browser of the tests of pages."""

from tests.browser import chromium, opened

__all__ = ["chromium", "opened"]

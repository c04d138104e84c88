"""Checks which URLs get an address of their own."""

import socket

from steertag.suite.exchange import roce_address


def test_loopback_gets_a_free_address():
    url = roce_address.with_free_address("roce://127.0.0.1:0")
    host = url.removeprefix("roce://").removesuffix(":0")
    assert host != "127.0.0.1" and host.startswith("127.")
    with socket.socket(type=socket.SOCK_DGRAM) as taken:
        taken.bind((host, 4791))


def test_taken_addresses_are_passed_over(monkeypatch):
    with socket.socket(type=socket.SOCK_DGRAM) as taken:
        url = roce_address.with_free_address("roce://127.0.0.1:0")
        host = url.removeprefix("roce://").removesuffix(":0")
        taken.bind((host, 4791))
        monkeypatch.setattr(roce_address, "_FIRST", _number(host))
        monkeypatch.setattr(roce_address, "_LAST", _number(host))
        assert roce_address.with_free_address("roce://127.0.0.1:0") == "roce://127.0.0.1:0"


def test_other_urls_stay():
    for url in ("roce://127.0.0.1:20049", "roce://192.0.2.1:0", "iwarp://127.0.0.1:0"):
        assert roce_address.with_free_address(url) == url


def _number(host):
    return int.from_bytes(socket.inet_aton(host), "big")

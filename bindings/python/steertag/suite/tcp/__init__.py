"""Connections over TCP: streams of octets, and records with RPC messages."""

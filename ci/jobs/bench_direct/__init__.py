"""The comparison of 2003 of ways into a server's file cache, repeated by our client and server."""

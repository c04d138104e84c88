"""Two cases; a server with a defect fails the first."""

VERSION_ZERO = """
    from steertag.suite import case, expect

    @case("self.version-zero", requirements=["RFC8166-4.5.1-1"], hostile=True)
    def test_version_zero(bench):
        conn = bench.connect()
        call = conn.null_call()
        call.vers = 0
        expect(conn.exchange(call), "RFC8166-4.5.1-1", must=["err-vers"])

    @case("self.null", requirements=["RFC8166-4.2.4-1"])
    def test_null(bench):
        conn = bench.connect()
        expect(conn.exchange(conn.null_call()), "RFC8166-4.2.4-1", must=["reply"])
"""

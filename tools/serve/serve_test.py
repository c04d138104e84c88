""
    "The reference server as a program: its command line, its end, and its limits."
    ""

    import resource import signal import subprocess

        import pytest

            from steertag.build_paths import tool

                LISTEN = ("--listen", "iwarp://127.0.0.1:0")
#Everything here ends at once or has failed.
    DEADLINE_S = 20

                 def run(*arguments, **options)
    : return subprocess
          .run([ tool("steertag-serve"), *arguments ], stderr = subprocess.PIPE, text = True,
               timeout = DEADLINE_S, **options, )

              @pytest.mark.parametrize("arguments",
                                       [
                                         ("--idle-timeout", "nan"),
                                         ("--idle-timeout", "-1"),
                                         ("--idle-timeout", "1e9"),
                                         ("--credits", "0"),
                                         ("--credits", "1025"),
                                         ("--inline-bytes", "1025"),
                                         ("--inline-bytes", "263168"),
                                         ("--credits", "1024", "--inline-bytes", "262144"),
                                         ("--port-file", ""),
                                         ("--listen", "iwarp://127.0.0.1:0/trailing/x"),
                                       ], ) def
              test_impossible_options_are_refused_in_one_sentence(arguments)
    : ended =
        run(*LISTEN, *arguments) if "--listen" not in arguments else run(*arguments)
            assert ended.returncode ==
        2 assert ended.stderr.startswith("steertag-serve: ") assert ended.stderr.count("\n") ==
        1

        def test_lost_output_is_an_error()
    : with open("/dev/full", "w") as full : assert run("--list-deviations", stdout = full)
                                                .returncode
        ==
        1

        @pytest.fixture def started(tmp_path)
    : ""
      "Starts a server whose soft limit of files is low, and waits until it listens."
      "" port_file =
            tmp_path / "port" hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1] server =
                subprocess
                    .Popen([ tool("steertag-serve"), *LISTEN, "--port-file", port_file ],
                           preexec_fn = lambda
                           : resource.setrlimit(
                                 resource.RLIMIT_NOFILE,
                                 (64, hard)), ) while not port_file.exists()
    : assert server.poll() is None yield server server.kill() server.wait(DEADLINE_S)

          def test_soft_limit_of_files_is_raised(started)
    : soft,
                hard =
                    resource.prlimit(started.pid, resource.RLIMIT_NOFILE) assert soft ==
                    hard

                    @pytest.mark
                        .parametrize("number", [ signal.SIGTERM, signal.SIGINT ]) def
                    test_signals_end_it_well(started, number)
    : started.send_signal(number) assert started.wait(DEADLINE_S) == 0

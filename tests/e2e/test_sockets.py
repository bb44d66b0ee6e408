# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Unix sockets, and sockets that systemd passes."""

import contextlib
import fcntl
import http.client
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import unittest

from harness import BINARY, Exporter, TestCase, run
from listening import reserved_port

ACTIVATE = shutil.which("systemd-socket-activate")
# What systemd does for a service of a socket unit: descriptors from 3 on, and their number and owner.
LAUNCH = """
import os, sys
count = int(sys.argv[1])
os.environ["LISTEN_FDS"] = str(count)
os.environ["LISTEN_PID"] = str(os.getpid() + int(os.environ.pop("PID_OFFSET", "0")))
os.execv(sys.argv[2], sys.argv[2:])
"""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=5)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def status(connection, path="/-/ready"):
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except OSError:
        return None
    finally:
        connection.close()


class UnixSockets(TestCase):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.folder, "rdma.sock")
        self.flag = f"--web.listen-address=unix:{self.path}"

    def serve(self, **how):
        exporter = Exporter(listen=self.flag, sysfs=self.tree(devices=1).sys, ready=False, **how)
        self.addCleanup(exporter.stop)
        self.assertTrue(self.eventually(lambda: status(UnixConnection(self.path)) == 200), exporter.log())
        return exporter

    def refused(self):
        done = run(self.flag, f"--path.sysfs={self.tree(devices=1).sys}")
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_it_serves_and_takes_its_file_away(self):
        exporter = self.serve()
        self.assertEqual(status(UnixConnection(self.path), "/metrics"), 200)
        self.assertIn(f"address=unix:{self.path}", exporter.log())
        self.assertEqual(exporter.stop()[0], 0)
        self.assertFalse(os.path.lexists(self.path))

    def test_next_to_tcp(self):
        exporter = Exporter(self.flag, sysfs=self.tree(devices=1).sys)
        self.addCleanup(exporter.stop)
        self.assertEqual(status(UnixConnection(self.path)), 200)

    def test_what_a_killed_daemon_left_is_replaced(self):
        self.serve().stop(signal.SIGKILL)
        self.assertTrue(stat.S_ISSOCK(os.lstat(self.path).st_mode))
        self.serve()

    def test_the_socket_of_a_running_daemon_is_left_alone(self):
        self.serve()
        message = self.refused()
        self.assertIn("address already in use", message)
        self.assertIn("--web.listen-address", message)
        self.assertEqual(status(UnixConnection(self.path)), 200)

    def test_a_file_of_somebody_else_is_left_alone(self):
        with open(self.path, "w", encoding="ascii") as file:
            file.write("data\n")
        self.assertIn("something that is not a socket has this name", self.refused())
        self.assertTrue(os.path.exists(self.path))
        os.unlink(self.path)
        os.symlink("/dev/null", self.path)
        self.refused()
        self.assertTrue(os.path.islink(self.path))

    def test_a_socket_that_was_replaced_is_not_taken_away(self):
        exporter = self.serve()
        os.unlink(self.path)
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(self.path)
            exporter.stop()
            self.assertTrue(os.path.lexists(self.path))

    def test_the_umask_decides_who_may_connect(self):
        self.serve(umask=0o117)
        self.assertEqual(stat.S_IMODE(os.lstat(self.path).st_mode), 0o660)

    def test_a_folder_that_is_not_there(self):
        self.flag = "--web.listen-address=unix:/nonexistent/x.sock"
        self.assertIn("no such file or directory", self.refused())


class SystemdSockets(TestCase):
    def launch(self, sockets, environment=None):
        """The daemon as systemd would start it with these sockets."""
        # Out of the way first: one of them may have the descriptor that another is to have.
        moved = [fcntl.fcntl(sock.fileno(), fcntl.F_DUPFD, 100) for sock in sockets]
        for fd in moved:
            self.addCleanup(os.close, fd)
        place = "import os\n" + "".join(f"os.dup2({fd}, {3 + i}, True)\n" for i, fd in enumerate(moved))
        process = subprocess.Popen(
            [sys.executable, "-c", place + LAUNCH, str(len(sockets)), BINARY, "--web.systemd-socket",
             f"--path.sysfs={self.tree(devices=1).sys}"],
            pass_fds=moved, env={**os.environ, **(environment or {})},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def tcp(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        return listener

    def test_it_serves_on_what_it_is_given_and_on_nothing_else(self):
        tcp = self.tcp()
        unix = socket.socket(socket.AF_UNIX)
        self.addCleanup(unix.close)
        path = os.path.join(self.folder, "s")
        unix.bind(path)
        unix.listen()
        process = self.launch([tcp, unix])
        port = tcp.getsockname()[1]
        self.assertTrue(self.eventually(
            lambda: status(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) == 200, 10))
        self.assertEqual(status(UnixConnection(path)), 200)
        self.assertIsNone(status(http.client.HTTPConnection("127.0.0.1", 9400, timeout=1)))
        process.terminate()
        log = process.stdout.read()
        self.assertEqual(process.wait(5), 0, log)
        self.assertTrue(os.path.lexists(path), "the file belongs to the socket unit")

    def refused(self, sockets, **options):
        process = self.launch(sockets, **options)
        log = process.communicate(timeout=10)[0]
        self.assertEqual(process.returncode, 1, log)
        return log

    def test_without_sockets_it_does_not_start(self):
        done = run("--web.systemd-socket", f"--path.sysfs={self.tree(devices=1).sys}")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--web.systemd-socket: systemd passed no socket", done.stderr)

    def test_sockets_of_another_process(self):
        self.assertIn("for another process", self.refused([self.tcp()], environment={"PID_OFFSET": "1"}))

    def test_what_is_no_listening_socket(self):
        datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(datagram.close)
        self.assertIn("file descriptor 3 is not a listening stream socket", self.refused([datagram]))
        quiet = socket.socket()
        self.addCleanup(quiet.close)
        self.assertIn("file descriptor 4 is not a listening stream socket", self.refused([self.tcp(), quiet]))

    @unittest.skipUnless(ACTIVATE, "systemd-socket-activate is not installed")
    def test_with_the_tool_of_systemd(self):
        reserved = contextlib.ExitStack()
        self.addCleanup(reserved.close)
        port = reserved.enter_context(reserved_port())
        process = subprocess.Popen(
            [ACTIVATE, "-l", f"127.0.0.1:{port}", BINARY, "--web.systemd-socket",
             f"--path.sysfs={self.tree(devices=1).sys}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertTrue(self.eventually(
            lambda: status(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) == 200, 10))

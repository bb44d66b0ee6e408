# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Starts the daemon on a tree, scrapes it, and looks at it from outside."""

import base64
import functools
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPOSITORY, "tests", "tools"))
import counter_names as names  # noqa: E402,F401  (for the tests)
import fake_tree  # noqa: E402
import marks  # noqa: E402
import prom_text  # noqa: E402
import sanitizers  # noqa: E402
from listening import EXPORTER, Announced  # noqa: E402

BINARY = os.path.abspath(os.environ.get("RDMA_EXPORTER", os.path.join(REPOSITORY, "build", "release", "rdma_exporter")))
# Says of itself; and what is read in the background, which may come with the next page.
SELF = ("rdma_exporter_", "process_", "rdma_config_check")
LATENESS = 0.2  # seconds that a scrape may answer behind its deadline


def temporary_folder(prefix="rdma_exporter_e2e."):
    """A folder in memory where the system has one: trees are thousands of small files."""
    return tempfile.mkdtemp(prefix=prefix, dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


def key(name, **labels):
    return (name, frozenset((k, str(v)) for k, v in labels.items()))


class Samples(dict):
    """The samples of one page: {(name, frozenset(labels)): value}."""

    def select(self, name=None, **labels):
        """Those with this name (all names if None) and at least these labels."""
        wanted = {(k, str(v)) for k, v in labels.items()}
        return Samples({k: v for k, v in self.items() if (name is None or k[0] == name) and wanted <= k[1]})

    def one(self, name, **labels):
        """The value of the only sample that matches; fails when there is none or more than one."""
        found = self.select(name, **labels)
        if len(found) != 1:
            raise AssertionError(f"{len(found)} samples of {name} {labels}, expected one: {list(found)[:5]}")
        return next(iter(found.values()))

    def kernel(self):
        """Without what the exporter says of itself."""
        return Samples({k: v for k, v in self.items() if not k[0].startswith(SELF)})

    def without_device(self, *devices):
        return Samples({k: v for k, v in self.items() if dict(k[1]).get("device") not in devices})

    def families(self):
        return {name for name, _ in self}


class Page:
    """One HTTP answer. samples is parsed strictly on first use."""

    def __init__(self, status, headers, body, seconds):
        self.status, self.headers, self.body, self.seconds = status, headers, body, seconds
        self._samples = None

    @property
    def samples(self):
        if self._samples is None:
            self._samples = Samples(prom_text.parse(self.body))
        return self._samples


def limited(open_files):
    """Start of a command line that allows a process so many open files."""
    return ["prlimit", f"--nofile={open_files}:{open_files}"] if open_files else []


def basic_auth(user):
    """The header of "name:password"; none without it."""
    return {"Authorization": "Basic " + base64.b64encode(user.encode()).decode()} if user else {}


class Exporter:
    """A running daemon. Use as a context manager; on the way out it is stopped and must have been alive."""

    def __init__(self, *flags, sysfs=None, ready=True, listen="--web.listen-address=127.0.0.1:0", open_files=None,
                 tls=None, user=None, environment=None, umask=-1):
        """listen: the flag for where it listens; tls: the ssl.SSLContext of clients; user: "name:password" that they
        send; environment: variables in addition to ours; umask: of the daemon, by default ours."""
        self.tls = tls
        self.user = user
        self.folder = temporary_folder()
        self.log_path = os.path.join(self.folder, "log")
        self.last_log = None
        arguments = [BINARY, listen]
        if sysfs:
            arguments.append(f"--path.sysfs={sysfs}")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [*limited(open_files), *arguments, *flags], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **(environment or {})}, umask=umask)
        self.announced = Announced(self.process, self.log_path, EXPORTER)
        self.pid = self.process.pid
        if ready:
            self.wait_ready()

    @functools.cached_property
    def port(self):
        """That it has told first."""
        return self.announced.ports()[0]

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        stopped = self.last_log is not None
        died = self.process.poll()
        code, _ = self.stop()
        log = self.log()
        if kind is not None:
            print(f"\n--- log of the daemon (exit {died}) ---\n{log[-3000:]}", file=sys.stderr)
        elif not stopped and (died is not None or code != 0):
            raise AssertionError(f"the daemon died with {died}, stopped with {code}; its log:\n{log}")

    def log(self):
        """What the daemon has logged so far; also after stop()."""
        if self.last_log is not None:
            return self.last_log
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_ready(self, seconds=30.0):
        end = time.monotonic() + seconds * marks.PATIENCE
        while True:
            if self.process.poll() is not None:
                self.stop()
                raise AssertionError(f"the daemon exited with {self.process.returncode}:\n{self.log()}")
            try:
                if self.announced.now() and self.get("/-/ready", timeout=1).status == 200:
                    return
            except OSError:
                pass
            if time.monotonic() > end:
                self.stop()
                raise AssertionError(f"not ready after {seconds} s:\n{self.log()}")
            time.sleep(0.01)

    def connect(self, timeout=20):
        if self.tls:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=self.tls)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def socket(self, timeout=5):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def get(self, path="/metrics", headers=None, timeout=20, method="GET"):
        connection = self.connect(timeout)
        try:
            begin = time.monotonic()
            connection.request(method, path, headers={**basic_auth(self.user), **(headers or {})})
            answer = connection.getresponse()
            body = answer.read()
            return Page(answer.status, answer.headers, body, time.monotonic() - begin)
        finally:
            connection.close()

    def wait_for_checks(self, seconds=30.0):
        """Until the first check of the configuration, in the background, has ended: it adds series to the page."""
        end = time.monotonic() + seconds * marks.PATIENCE
        while not self.scrape().samples.select("rdma_config_check"):
            if time.monotonic() > end:
                raise AssertionError(f"no verdict of the configuration after {seconds} s")
            time.sleep(0.05)

    def scrape(self, prometheus_timeout=None):
        """A page of /metrics, which must be there and well-formed."""
        headers = {}
        if prometheus_timeout is not None:
            headers["X-Prometheus-Scrape-Timeout-Seconds"] = str(prometheus_timeout)
        page = self.get(headers=headers)
        if page.status != 200:
            raise AssertionError(f"/metrics answered {page.status}: {page.body[:200]}")
        page.samples  # noqa: B018  (parses)
        return page

    def open_files(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def status(self, field):
        """A number of /proc/PID/status, for example Threads or VmRSS (kB)."""
        return int(self.status_text(field))

    def status_text(self, field):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith(field + ":"):
                    return line.split()[1]
        raise AssertionError(f"no {field}")

    def stop(self, number=signal.SIGTERM, seconds=5.0):
        """Sends the signal; returns (exit code, seconds it took). Kills what does not go. Fails when a sanitizer has
        reported anything."""
        begin = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = None
        try:
            code = self.process.wait(seconds * marks.PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        took = time.monotonic() - begin
        self.last_log = self.log()
        shutil.rmtree(self.folder, ignore_errors=True)
        sanitizers.check(self.last_log)
        return code, took


def run(*arguments, timeout=60, **options):
    """Runs the binary to its end; text output captured."""
    done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=timeout * marks.PATIENCE,
                          check=False, **options)
    sanitizers.check(done.stderr)
    return done


class Fifo:
    """A file whose read does not return. release() lets the reader go on with `text` as the content.

    With hold=False a reader hangs in open(), with hold=True in read().
    """

    def __init__(self, path, outside, hold=False):
        self.path, self.outside = path, outside
        if os.path.lexists(path):
            os.unlink(path)
        os.mkfifo(path)
        self.held = os.open(path, os.O_RDWR) if hold else None

    def has_reader(self):
        if self.held is not None:
            raise AssertionError("cannot tell while holding it open")
        try:
            os.close(os.open(self.path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False  # ENXIO
        return True

    def replace(self, text):
        """Puts a plain file in its place; a reader that is stuck stays stuck."""
        outside = tempfile.mkdtemp(dir=self.outside)  # where no directory listing finds it
        fake_tree.write(f"{outside}/new", text)
        os.rename(self.path, f"{outside}/fifo")
        os.rename(f"{outside}/new", self.path)
        self.path = f"{outside}/fifo"

    def release(self, text):
        """Lets all readers that hang now read `text`; True if there was one."""
        if self.held is not None:
            os.write(self.held, text.encode())
            os.close(self.held)
            self.held = None
            return True
        try:
            fd = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return False
        os.write(fd, text.encode())
        os.close(fd)
        return True


class TestCase(unittest.TestCase):
    """With a folder of its own, in which trees are made."""

    def setUp(self):
        self.folder = temporary_folder()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def tree(self, **options):
        return fake_tree.build(tempfile.mkdtemp(prefix="tree.", dir=self.folder), **options)

    def fifo(self, path, hold=False):
        """A FIFO at path; what hangs on it at the end of the test is let go."""
        fifo = Fifo(path, self.folder, hold)
        self.addCleanup(fifo.release, "0\n")
        return fifo

    def assert_within(self, value, limit, message=None):
        """An upper bound on time, processor time or memory. It holds where the test runs alone."""
        if not marks.is_timing(self):
            raise TypeError("a test that asserts a bound needs the mark @timing")
        if marks.BOUNDS:
            self.assertLess(value, limit, message)

    def assert_on_time(self, page, deadline):
        self.assert_within(page.seconds, deadline + LATENESS, "the scrape answered too late")

    def assert_no_new_threads(self, exporter, before):
        """Before many scrapes there were so many. A busy machine may add a worker: where nothing ends within 25 ms. A leak
        adds one for each scrape."""
        now = exporter.status("Threads")
        self.assert_within(now, before + 1)
        self.assertLess(now, before + 5)

    def assert_has_all(self, samples, expected, what=""):
        """Every series of `expected` is in `samples`, with the same value."""
        missing = [k for k in expected if k not in samples]
        wrong = [(k, v, samples[k]) for k, v in expected.items() if k in samples and samples[k] != v]
        self.assertEqual((missing[:5], len(missing)), ([], 0), f"{what}: missing")
        self.assertEqual(wrong[:5], [], f"{what}: other value (series, expected, found)")

    def assert_promtool(self, body):
        promtool = shutil.which("promtool")
        if not promtool:
            self.skipTest("promtool is not installed")
        done = subprocess.run([promtool, "check", "metrics"], input=body, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr.decode()[:2000]), (0, ""))

    def eventually(self, condition, seconds=5.0, pause=0.05):
        """Waits until condition() is true; its last value is returned either way."""
        end = time.monotonic() + seconds * marks.PATIENCE
        while True:
            value = condition()
            if value or time.monotonic() > end:
                return value
            time.sleep(pause)

    def in_threads(self, count, work):
        """Runs work(i) in so many threads that start together; list of results, first failure is raised."""
        results, errors = [None] * count, []
        barrier = threading.Barrier(count)

        def body(i):
            try:
                barrier.wait(10)
                results[i] = work(i)
            except BaseException as error:  # noqa: B902  (raised again below)
                errors.append(error)

        threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return results

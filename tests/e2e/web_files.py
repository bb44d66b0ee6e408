# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Certificates, made with openssl while the tests run, and files for --web.config.file."""

import os
import shutil
import ssl
import subprocess
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import crypt  # python 3.11 is the last to warn about it; 3.13 will not have it

OPENSSL = shutil.which("openssl")
NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def openssl(*arguments, data=None):
    done = subprocess.run([OPENSSL, *arguments], input=data, capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"openssl {arguments[0]}: {done.stderr.decode()}")
    return done.stdout


class Pair:
    """A certificate and its key."""

    def __init__(self, folder, name):
        self.cert, self.key = os.path.join(folder, f"{name}.pem"), os.path.join(folder, f"{name}.key")


class Authority(Pair):
    """A CA whose certificates are files in the folder."""

    def __init__(self, folder, name="ca"):
        super().__init__(folder, name)
        self.folder = folder
        openssl("req", "-x509", *NEW_KEY, "-keyout", self.key, "-out", self.cert, "-days", "2", "-subj", f"/CN={name}")

    def issue(self, name, sans="DNS:localhost,IP:127.0.0.1", days=2):
        """days: negative for a certificate that has expired."""
        pair = Pair(self.folder, name)
        request = openssl("req", "-new", *NEW_KEY, "-keyout", pair.key, "-subj", f"/CN={name}", "-addext",
                          f"subjectAltName={sans}")
        issued = openssl("x509", "-req", "-CA", self.cert, "-CAkey", self.key, "-CAcreateserial", "-days", str(days),
                         "-copy_extensions", "copy", data=request)
        os.chmod(pair.key, 0o600)
        with open(pair.cert + ".new", "wb") as file:
            file.write(issued)
        os.rename(pair.cert + ".new", pair.cert)
        return pair

    def client(self, pair=None):
        """The context of a client that trusts this CA."""
        context = ssl.create_default_context(cafile=self.cert)
        if pair:
            context.load_cert_chain(pair.cert, pair.key)
        return context


def bcrypt(password, cost=4):
    salt = crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=1 << cost)
    return crypt.crypt(password, salt).replace("$2b$", "$2y$", 1)  # as htpasswd writes it


def tls_section(pair, *lines):
    return "\n".join(["tls_server_config:", f"  cert_file: {pair.cert}", f"  key_file: {pair.key}",
                      *(f"  {line}" for line in lines)]) + "\n"


def users_section(users, cost=4):
    return "basic_auth_users:\n" + "".join(f"  '{name}': {bcrypt(password, cost)}\n" for name, password in users.items())


def write(path, text):
    """Replaces the file at once, as an editor or a configuration tool does."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".new", path)
    return path

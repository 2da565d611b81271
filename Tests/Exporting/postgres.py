"""A PostgreSQL cluster of its own, in a temporary folder on a free port of loopback, and connections to it."""
import ctypes
import ctypes.util
import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import threading


class Cluster:
    def __init__(self):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        if not programs:
            raise SystemExit("no PostgreSQL server is installed (Debian package postgresql)")
        self.programs, self.folder, self.owner = programs[-1], tempfile.mkdtemp(prefix="quire-cluster-"), []
        os.chmod(self.folder, 0o700)
        if os.getuid() == 0:
            # PostgreSQL refuses to be root.
            os.chown(self.folder, pwd.getpwnam("postgres").pw_uid, -1)
            self.owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"postgres://quire@127.0.0.1:{self.port}/postgres"
        # Small segments let a limit on the size of files stand for a full disk.
        self.run("initdb", "-U", "quire", "-A", "trust", "-E", "UTF8", "--no-sync", "--wal-segsize=1")
        self.control("start")

    def run(self, program, *words):
        subprocess.run(
            self.owner + [f"{self.programs}/{program}", "-D", f"{self.folder}/data", *words], check=True,
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def control(self, word, *words):
        self.run("pg_ctl", "-w", "-l", f"{self.folder}/log", "-o",
                 f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off "
                 "-c max_connections=200", word, *words)

    def limit_files(self, size):
        """No file may grow beyond a size, as on a disk that is full; None for as large as they like."""
        process = open(f"{self.folder}/data/postmaster.pid").readline().strip()
        # Of processes that begin from now on, and a connection is one.
        subprocess.run(self.owner + ["prlimit", "--pid", process, f"--fsize={size or 'unlimited'}:"], check=True)

    def alter(self, setting, value):
        """Changes a setting of connections that begin from now on."""
        rows(self.url, f"ALTER DATABASE postgres SET {setting} = {value}")

    def end(self):
        self.control("stop", "-m", "immediate")
        shutil.rmtree(self.folder, ignore_errors=True)


libpq = ctypes.CDLL(ctypes.util.find_library("pq") or "libpq.so.5")
for name in ("PQconnectdb", "PQexec"):
    getattr(libpq, name).restype = ctypes.c_void_p
for name in ("PQerrorMessage", "PQgetvalue"):
    getattr(libpq, name).restype = ctypes.c_char_p
connections = threading.local()
QUIETLY = "options=-cclient_min_messages%3Derror"


def rows(url, statement):
    """The rows of a statement's answer, of texts; each thread has a connection of its own."""
    kept = vars(connections)
    for _ in range(2):
        connection = kept[url] = kept.get(url) or libpq.PQconnectdb(f"{url}?{QUIETLY}".encode())
        result = libpq.PQexec(ctypes.c_void_p(connection), statement.encode())
        try:
            if libpq.PQresultStatus(ctypes.c_void_p(result)) in (1, 2):
                return [
                    [libpq.PQgetvalue(ctypes.c_void_p(result), row, column).decode()
                     for column in range(libpq.PQnfields(ctypes.c_void_p(result)))]
                    for row in range(libpq.PQntuples(ctypes.c_void_p(result)))]
            message = libpq.PQerrorMessage(ctypes.c_void_p(connection)).decode()
        finally:
            libpq.PQclear(ctypes.c_void_p(result))
        if libpq.PQstatus(ctypes.c_void_p(connection)) == 0:
            break
        # The server was started anew: once more.
        libpq.PQfinish(ctypes.c_void_p(kept.pop(url)))
    raise RuntimeError(message)

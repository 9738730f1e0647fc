#!/usr/bin/env python3
"""slow_writer.py FILE MILLISECONDS: holds the write lock of a database for so long, with a change
that is then rolled back."""
import sqlite3
import sys
import time

path, milliseconds = sys.argv[1:]
database = sqlite3.connect(path, timeout=5, isolation_level=None)
database.execute("BEGIN IMMEDIATE")
database.execute("UPDATE lease SET identity = 'nobody', expires_ns = 0")
time.sleep(int(milliseconds) / 1000)
database.execute("ROLLBACK")

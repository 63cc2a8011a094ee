#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""relay.py LISTEN TARGET: passes loopback TCP connections on, one after another.

One slurmd stands for all nodes.  When it is asked twice at once to end one job it answers the
second request at once, and that node stays in the state COMPLETING; so requests must queue.
With a third argument "lo" it first gives the loopback interface a second address if it has
only 127.0.0.1: else getaddrinfo() finds no address family in a network namespace of its own.
"""
import fcntl
import select
import socket
import struct
import sys

IDLE_S = 5  # of a connection on which slurmd does not respond


def second_loopback_address():
    SIOCGIFADDR, SIOCSIFADDR, SIOCSIFFLAGS = 0x8915, 0x8916, 0x8914
    with open("/proc/net/fib_trie") as f:
        if any("|--" in line and not line.split()[-1].startswith(("127.", "0.")) for line in f):
            return
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def request(code, name, address):
        sockaddr = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
        fcntl.ioctl(s, code, struct.pack("16s16s", name, sockaddr))

    try:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", 0x49))  # up, running
        request(SIOCSIFADDR, b"lo:lab", "127.0.0.2")
    except OSError as e:
        print("relay: no second loopback address:", e, file=sys.stderr)


def pass_on(client, target):
    """Until slurmd closes: its handler is then done with the request."""
    try:
        server = socket.create_connection(("127.0.0.1", target), timeout=5)
    except OSError:
        return
    with server:
        sources = [client, server]
        while True:
            ready = select.select(sources, [], [], IDLE_S)[0]
            if not ready:
                return
            for end in ready:
                data = end.recv(65536)
                if not data and end is server:
                    return
                if not data:
                    sources.remove(client)
                    continue
                (client if end is server else server).sendall(data)


def main():
    listen, target = int(sys.argv[1]), int(sys.argv[2])
    if len(sys.argv) > 3:
        second_loopback_address()
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", listen))
    s.listen(4096)
    while True:
        client = s.accept()[0]
        with client:
            try:
                pass_on(client, target)
            except OSError:
                pass


main()

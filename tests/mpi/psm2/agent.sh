#!/bin/sh
# What Open MPI starts instead of ssh: the same machine under another name. agent.sh HOST COMMAND...
host=$1
shift
exec unshare -u sh -c 'hostname "$0"; exec sh -c "$*"' "$host" "$@"

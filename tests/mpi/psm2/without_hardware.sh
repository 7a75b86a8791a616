#!/bin/sh
# Run a command where PSM2 finds an adapter that is up: unshare -m without_hardware.sh COMMAND...
# There is none, so that it can use its devices `self` and `shm` only (PSM2_DEVICES=self,shm). It
# looks for a device file and for the state of a port in sysfs; both are made in file systems of
# this mount namespace, beside the devices that every program needs.
set -e
new=$(mktemp -d)
trap 'umount -l "$new" 2>/dev/null; rmdir "$new"' EXIT
mount -t tmpfs imbrex-dev "$new"
for device in null zero full random urandom tty; do
    : >"$new/$device"
    mount --bind "/dev/$device" "$new/$device"
done
mkdir "$new/shm" "$new/pts"
mount -t tmpfs imbrex-shm "$new/shm"
mount --bind /dev/pts "$new/pts"
ln -s pts/ptmx "$new/ptmx"
ln -s /proc/self/fd "$new/fd"
: >"$new/hfi1_0"
mount --rbind "$new" /dev
mount -t tmpfs imbrex-class /sys/class
port=/sys/class/infiniband/hfi1_0/ports/1
mkdir -p "$port"
echo "5: LinkUp" >"$port/phys_state"
echo "4: ACTIVE" >"$port/state"
"$@"

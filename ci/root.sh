# shellcheck shell=bash
# Fresh Debian 12 roots by mmdebstrap, for scripts that try something in one as a stranger would. Needs root.

mirror=${STEERTAG_MIRROR:-http://deb.debian.org/debian}

no_mounts=3 # exit status

# own_mounts SCRIPT ARGUMENT...: starts the script again in a mount namespace of its own, whose mounts end with it
# however it ends. Ends it with a sentence where no root can be made.
own_mounts() {
  [[ -z ${STEERTAG_OWN_MOUNTS-} ]] || return 0
  ((EUID == 0)) || {
    echo "$1: only root can make a root directory of its own" >&2
    exit "$no_mounts"
  }
  command -v mmdebstrap >/dev/null || {
    echo "$1: mmdebstrap is missing: apt-get install mmdebstrap" >&2
    exit 2
  }
  unshare --mount true || {
    echo "$1: this machine lets not even root mount" >&2
    exit "$no_mounts"
  }
  STEERTAG_OWN_MOUNTS=yes exec unshare --mount "$@"
}

# make_root ROOT [PACKAGE...]: a minimal Debian 12 in the empty directory ROOT, with apt and these packages.
make_root() {
  local include
  include=$(IFS=, && echo "${*:2}")
  chmod 755 "$1"
  mmdebstrap --quiet --variant=minbase ${include:+--include="$include"} bookworm "$1" "$mirror"
  enter_root "$1"
}

# enter_root ROOT: gives a root what programs in it expect: /proc, /dev and names of hosts.
enter_root() {
  cp /etc/resolv.conf "$1/etc/resolv.conf"
  echo "127.0.0.1 localhost" >"$1/etc/hosts"
  mount -t proc proc "$1/proc"
  mount --rbind /dev "$1/dev"
}

# leave_root ROOT: unmounts. The mounts go before the tree does, or its removal would reach into them.
leave_root() {
  local mount
  for mount in dev/shm dev proc; do
    ! mountpoint --quiet "$1/$mount" || umount --recursive "$1/$mount"
  done
}

# remove_root ROOT
remove_root() {
  leave_root "$1"
  rm -rf --one-file-system "$1"
}

# add_user ROOT USER: an ordinary user with a home directory.
add_user() {
  useradd --prefix "$1" --create-home --shell /bin/bash "$2"
}

# in_root ROOT USER [NAME=VALUE...] COMMAND...: runs a command with a plain environment, in the user's home.
in_root() {
  local home=/root
  [[ $2 == root ]] || home=/home/$2
  # shellcheck disable=SC2016 # expanded inside
  chroot "$1" /usr/bin/env --ignore-environment \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$home" LANG=C.UTF-8 \
    setpriv --reuid="$2" --regid="$2" --init-groups -- bash -c 'cd && exec env "$@"' bash "${@:3}"
}

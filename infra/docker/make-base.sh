#!/bin/sh
# Makes a folder that can stand in for the base image where no registry is at hand: what Debian calls essential, from the
# packages installed on this machine, and Node with npm. make-base.sh <folder> <node binary>
set -eu
out=$1
node=$2

closure() {
  found=
  while [ $# -gt 0 ]; do
    package=$1
    shift
    case " $found " in *" $package "*) continue ;; esac
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || continue
    found="$found $package"
    # Of alternatives, the first.
    set -- "$@" $(dpkg-query -W -f '${Pre-Depends}, ${Depends}\n' "$package" |
      tr ',' '\n' | sed 's/|.*//; s/(.*//; s/:any//; s/ //g')
  done
  echo "$found"
}

mkdir -p "$out/etc" "$out/proc" "$out/dev" "$out/tmp" "$out/usr/local/bin" "$out/usr/local/lib/node_modules"
for name in bin sbin lib lib64; do
  mkdir -p "$out/usr/$name"
  ln -s "usr/$name" "$out/$name"
done
chmod 1777 "$out/tmp"
essential=$(dpkg-query -W -f '${Essential} ${Package}\n' | sed -n 's/^yes //p')
dpkg-query -L $(closure $essential libstdc++6) |
  grep -Ev '^/usr/share/(doc|man|locale|info|lintian)|^/(\.|bin|sbin|lib|lib64)$|diverts others to' | sort -u |
  while read -r file; do if [ -e "$file" ]; then echo "${file#/}"; fi; done |
  tar --directory / --no-recursion --create --files-from - |
  tar --directory "$out" --keep-directory-symlink --extract
cp /usr/share/base-passwd/passwd.master "$out/etc/passwd"
cp /usr/share/base-passwd/group.master "$out/etc/group"
cp -L "$node" "$out/usr/local/bin/node"
# By the link, because npm itself answers with the folder of whichever Node runs it.
npm=$(readlink -f "$(command -v npm)")
cp -R "${npm%/bin/npm-cli.js}" "$out/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$out/usr/local/bin/npm"
# Behind a proxy that signs for the registry.
if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then cp "$NODE_EXTRA_CA_CERTS" "$out/etc/extra-ca.pem"; fi

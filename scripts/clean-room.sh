#!/usr/bin/env bash
# Runs a command as on a fresh machine: in a copy of the repository around the current folder, in a path with a space,
# with an empty home, an empty folder for temporary files and the environment of a bare login shell. Where the machine
# allows it, /tmp is hidden and no other process is visible. Fails when the command fails, and when it leaves a process,
# a file outside its temporary folder or a change in the work tree. Removes everything in the end.
#
#   scripts/clean-room.sh npx --yes bun@1.4.5 run test
set -euo pipefail
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
shopt -s nocasematch # Names of registry settings are written in both cases.

# What a client of a package registry needs.
REGISTRY_SETTINGS='^(npm_config_.*|(http|https|all|no)_proxy|ssl_cert_.*|node_extra_ca_certs)$'

main() {
  local repository room flags=(--mount --pid --fork --mount-proc --kill-child)
  repository=$(git rev-parse --show-toplevel)
  room=$(mktemp -d "${TMPDIR:-/tmp}/halyard-clean-room.XXXXXX")
  trap "chmod -R u+rwX '$room'; rm -rf '$room'" EXIT
  # Open to others: PostgreSQL does not run as root, so the tests give it another user.
  chmod 755 "$room"
  mkdir "$room/home" "$room/tmp" "$room/settings" "$room/work tree"
  cp "$0" "$room/settings/clean-room.sh"
  copy_repository "$repository" "$room/work tree"
  # A home without an .npmrc still has a pointer to the real one.
  local npmrc=${NPM_CONFIG_USERCONFIG:-${npm_config_userconfig:-$HOME/.npmrc}}
  if [[ -f $npmrc ]]; then export NPM_CONFIG_USERCONFIG=$npmrc; fi
  (($(id -u) == 0)) || flags+=(--user --map-current-user --keep-caps)
  if unshare "${flags[@]}" mount --bind "$room" /tmp 2>/dev/null; then
    bring_settings_from_tmp "$room/settings"
    unshare "${flags[@]}" bash -c 'mount --bind "$0" /tmp && exec bash /tmp/settings/clean-room.sh --inside /tmp yes "$@"' \
      "$room" "$@"
  else
    echo "clean room: this machine allows no namespaces, so /tmp and other processes stay visible"
    bash "$room/settings/clean-room.sh" --inside "$room" no "$@"
  fi
}

# Copies what git would commit, as the only commit of a new repository.
copy_repository() (
  cd "$1"
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    if [[ -e $file || -L $file ]]; then printf '%s\0' "$file"; fi
  done | tar --null --files-from=- -cf - | tar -xf - -C "$2"
  cd "$2"
  git init --quiet
  git add --all
  git -c user.name=Halyard -c user.email=halyard@localhost -c commit.gpgsign=false -c core.hooksPath=/dev/null \
    commit --quiet --message 'The clean room'
)

# Files that settings point to must not vanish with /tmp.
bring_settings_from_tmp() {
  local name
  for name in $(compgen -e); do
    if [[ $name =~ $REGISTRY_SETTINGS && ${!name} == /tmp/* && -f ${!name} ]]; then
      cp "${!name}" "$1/$name"
      export "$name=/tmp/settings/$name"
    fi
  done
}

# inside <room> <isolated: yes or no> <command...>
inside() {
  local room=$1 isolated=$2 status=0 name left='' prefix=() variables=()
  shift 2
  cd "$room/work tree"
  for name in $(compgen -e); do
    [[ ! $name =~ $REGISTRY_SETTINGS || $name =~ _(cache|local_prefix)$ ]] || variables+=("$name=${!name}")
  done
  # The capabilities that the namespace took would let tests read files that they must not be able to read.
  [[ $isolated == no ]] || (($(id -u) == 0)) || prefix=(setpriv --inh-caps=-all --ambient-caps=-all --)
  variables+=(PATH="$PATH" HOME="$room/home" TMPDIR="$room/tmp" USER="$(id -un)" LANG="${LANG:-C.UTF-8}")
  "${prefix[@]}" env -i "${variables[@]}" TERM="${TERM:-dumb}" CI=true "$@" </dev/null || status=$?
  ((status == 0)) || echo "clean room: the command failed with exit code $status"
  # What guards the processes of a test ends a moment after the test.
  for _ in {1..20}; do
    left=$(left_processes)
    [[ -n $left ]] || break
    sleep 0.5
  done
  report "a process" "$left"
  # A namespace ends with its processes.
  [[ $isolated == yes || -z $left ]] || awk '{ print $1 }' <<<"$left" | xargs kill -9
  # The caches of npm, Bun and Biome are meant to stay in the home.
  report "a file outside the temporary folder" "$(ls -A "$room" | grep -vxE 'home|tmp|settings|work tree'
    cd "$room/home" && find . -mindepth 1 -maxdepth 2 | grep -vE '^\./(\.npm|\.bun|\.cache$|\.cache/biome$)')"
  report "a change in the work tree" "$(git status --porcelain --ignored | grep -vE '^!! (.*/)?(node_modules|dist)/$')"
  exit "$status"
}

# In a namespace every process but ours; elsewhere those whose environment names the room.
left_processes() {
  local line
  ps axeww -o pid=,stat=,args= | while read -r line; do
    [[ $line =~ ^(1|[0-9]+' Z'|.*clean-room\.sh' '--inside|.*ps' 'axeww)' ' ]] && continue
    [[ $isolated == no && $line != *"HOME=$room/"* ]] || ps -o pid=,args= -p "${line%% *}" || true
  done
}

# report <what> <lines>: fails when there are any.
report() {
  [[ -n $2 ]] || return 0
  printf 'clean room: the command left %s behind:\n%s\n' "$1" "$2"
  status=1
}

if [[ ${1:-} == --inside ]]; then inside "${@:2}"; else main "$@"; fi

#!/bin/sh
# Ends what is left of a node in its cgroups, then removes these: clear.sh GROUP...
# A frozen process of version 1 dies only after it has been thawed.
for group; do
  [ ! -e "$group/freezer.state" ] || echo THAWED > "$group/freezer.state"
  [ ! -e "$group/cgroup.freeze" ] || echo 0 > "$group/cgroup.freeze"
done
for round in $(seq 200); do
  left=
  for group; do
    [ -d "$group" ] || continue
    for pid in $(find "$group" -name cgroup.procs -exec cat {} + 2> /dev/null); do kill -KILL "$pid" 2> /dev/null; done
    find "$group" -depth -type d -exec rmdir {} + 2> /dev/null
    [ ! -d "$group" ] || left="$left $group"
  done
  [ -n "$left" ] || exit 0
  sleep 0.05
done
echo "not gone after 10 s:$left" >&2
exit 1

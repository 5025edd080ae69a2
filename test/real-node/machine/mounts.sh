# Mounts of a node. They are seen nowhere else, and go with its mount namespace.

mount -t proc proc /proc

# The cgroup namespace shows the node's own groups as the root of each hierarchy.
umount --recursive --lazy /sys
mount -t sysfs sysfs /sys
if [ "$NODE_HIERARCHIES" = version-2 ]; then
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  for controller in $(< /sys/fs/cgroup/cgroup.controllers); do
    echo "+$controller" > /sys/fs/cgroup/cgroup.subtree_control
  done
else
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  for controllers in $NODE_HIERARCHIES; do # such as memory, cpu,cpuacct or name=systemd
    folder=/sys/fs/cgroup/${controllers#name=}
    mkdir "$folder"
    case $controllers in name=*) options=none,$controllers ;; *) options=$controllers ;; esac
    mount -t cgroup -o "$options" cgroup "$folder"
    for controller in ${controllers//,/ }; do # runtimes look for each by its own name
      [ -e "/sys/fs/cgroup/${controller#name=}" ] || ln -s "$controllers" "/sys/fs/cgroup/$controller"
    done
  done
fi

mount -t tmpfs -o mode=755 tmpfs /run
for folder in /var/lib /var/log; do
  mkdir -p "$NODE_FOLDER$folder"
  mount --bind "$NODE_FOLDER$folder" "$folder"
done
mount --make-rshared / # pods' volumes reach their containers
mkdir /run/node

# kubelet insists on some settings that are the whole kernel's: it finds files with the values it wants, and the machine keeps its own.
while read -r setting value; do
  [ -e "/proc/sys/$setting" ] || continue
  file=/run/node/${setting//\//-}
  echo "$value" > "$file"
  mount --bind "$file" "/proc/sys/$setting"
done << SETTINGS
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
SETTINGS

# Nobody resolves names here: the pull of an image that was not loaded fails at once, and the registry of the name hears nothing.
echo "nameserver 127.0.0.1" > /run/node/resolv.conf
if [ -e /etc/resolv.conf ]; then mount --bind /run/node/resolv.conf "$(realpath /etc/resolv.conf)"; fi

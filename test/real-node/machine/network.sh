# Network of a node: one link to the machine, pods behind a bridge. Sets node_address.
#   198.18.N.1  the machine's end of the link       198.18.N.2  the node       198.19.N.0/24  its pods
#   198.18.0.1  from node and pods: the loopback of the machine, port by port
# (198.18.0.0/15 is set aside for tests of networks: nobody's own addresses.)

on_machine() { nsenter --net=/proc/self/fd/9 "$@"; }

# The kernel lets only one node have a name on the machine: making it takes the number.
for number in {1..250}; do
  link=$NODE_LINK_PREFIX$number
  ip link add eth0 type veth peer name "$link" netns /proc/self/fd/9 2> /run/node/link-error && break
done
[ -e /sys/class/net/eth0 ] || { echo "no link to the machine: $(cat /run/node/link-error)" >&2; exit 1; }
machine_end=198.18.$number.1
node_address=198.18.$number.2
pods=198.19.$number.0/24
echo "$link" "$(on_machine ip -oneline link show "$link" | cut -d: -f1)" > "$NODE_FOLDER/link"

on_machine ip address add "$machine_end/30" dev "$link"
on_machine sh -c "echo 1 > /proc/sys/net/ipv4/conf/$link/route_localnet" # the link may bring packets for 127.0.0.1
on_machine ip link set "$link" up
on_machine ip route add "$pods" via "$node_address"
exec 9<&-

ip link set lo up
ip address add "$node_address/30" dev eth0
ip link set eth0 up
ip route add default via "$machine_end"

# Answers come from 127.0.0.1, which a kernel does not take from outside unless it is told to.
cd /proc/sys/net/ipv4
echo 1 > ip_forward
echo 1 > conf/all/route_localnet
echo 1 > conf/all/accept_local
for each in all default eth0; do echo 0 > "conf/$each/rp_filter"; done
cd /

# Packets for the machine's loopback or the API server carry a mark, get 127.0.0.1 as their destination and leave by the link:
# the rule of the mark comes before that of our own loopback.
ip rule add pref 20 lookup local
ip rule add pref 10 fwmark 1 lookup 100
ip rule delete pref 0
ip route add default via "$machine_end" table 100
nft -f - << RULES
table ip machine {
  set there { type ipv4_addr; elements = { 198.18.0.1, $API_ADDRESS } }
  chain translate {
    ip daddr 198.18.0.1 dnat to 127.0.0.1
    ip daddr $API_ADDRESS tcp dport 443 dnat to 127.0.0.1:$API_PORT
  }
  chain mark_ours { type route hook output priority mangle; ip daddr @there meta mark set 1; }
  chain mark_pods { type filter hook prerouting priority mangle; ip daddr @there meta mark set 1; }
  chain translate_ours { type nat hook output priority -100; jump translate; }
  chain translate_pods { type nat hook prerouting priority dstnat; jump translate; }
  chain leave { type nat hook postrouting priority srcnat; oifname eth0 ip saddr $pods masquerade; }
}
RULES

mkdir /run/node/cni
cat > /run/node/cni/10-pods.conflist << CNI
{"cniVersion": "0.4.0", "name": "pods", "plugins": [{
  "type": "bridge", "bridge": "pods0", "isDefaultGateway": true,
  "ipam": {"type": "host-local", "dataDir": "/run/node/addresses", "ranges": [[{"subnet": "$pods"}]]}
}]}
CNI

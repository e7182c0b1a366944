# Becomes the standalone server of the package "milvus": its configuration is written below a directory, with free ports.
# Arguments: the directory, the directory of the unpacked programs, the port to serve on.
import os
import socket
import sys

import milvus

root, programs, port = sys.argv[1], sys.argv[2], sys.argv[3]


taken = {int(port)}


def free():
    """Returns a port that is free now and was not returned before: the system may offer the same one twice."""
    while True:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            found = s.getsockname()[1]
        if found not in taken:
            taken.add(found)
            return found


config = milvus.MilvusServerConfig(data_dir=root)
ports = {key: free() for key in config.configurable_items if key.endswith("_port")}
ports["proxy_port"] = int(port)
config.update(**ports)
etcd = os.path.join(root, "etcd.yaml")
client, peer = free(), free()
with open(etcd, "w", encoding="utf-8") as f:
    f.write(
        f"name: default\ndata-dir: {root}/etcd\n"
        f"listen-client-urls: http://127.0.0.1:{client}\nadvertise-client-urls: http://127.0.0.1:{client}\n"
        f"listen-peer-urls: http://127.0.0.1:{peer}\ninitial-advertise-peer-urls: http://127.0.0.1:{peer}\n"
        f"initial-cluster: default=http://127.0.0.1:{peer}\nlogger: zap\nlog-outputs: [{root}/etcd.log]\n"
    )
config.resolve()
os.environ.update(
    DEPLOY_MODE="STANDALONE",
    METRICS_PORT=str(free()),
    MILVUS_RUN_DIR=os.path.join(root, "run"),
    LD_LIBRARY_PATH=programs,
    ETCD_CONFIG_PATH=etcd,
    COMMON_SESSION_TTL="5",  # of a server that was killed: the next one waits for its end
    GOMAXPROCS="2",
    GOMEMLIMIT="512MiB",
)
os.chdir(root)
os.execv(os.path.join(programs, "milvus"), ["milvus", "run", "standalone"])

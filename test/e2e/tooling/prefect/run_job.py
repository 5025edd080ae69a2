"""Runs a KubernetesJob block of prefect-kubernetes, which waits for its Job and hands back what the pods printed."""

import asyncio
import json
import sys

from prefect_kubernetes.credentials import KubernetesCredentials
from prefect_kubernetes.jobs import KubernetesJob

block = KubernetesJob(
    credentials=KubernetesCredentials(),
    v1_job=json.load(sys.stdin),
    namespace=sys.argv[1],
    interval_seconds=1,
    timeout_seconds=60,
)


async def run():
    started = await block.trigger()
    await started.wait_for_completion()
    return await started.fetch_result()


try:
    print(json.dumps({"logs": asyncio.run(run())}))
except Exception as error:
    print(json.dumps({"error": str(error)}))

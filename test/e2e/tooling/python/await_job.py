"""What users of the Python client do with Jobs: create, watch until it is done, read, delete and wait until it is gone."""

import json
import sys

from kubernetes import client, config, watch

manifest = json.load(sys.stdin)
namespace = sys.argv[1]
config.load_kube_config()
api = client.BatchV1Api()


def condition(job):
    for each in job.status.conditions or []:
        if each.status == "True" and each.type in ("Complete", "Failed"):
            return each.type
    return None


created = api.create_namespaced_job(namespace, manifest)
name = created.metadata.name
only = f"metadata.name={name}"
version = created.metadata.resource_version
watching = watch.Watch()
for event in watching.stream(
    api.list_namespaced_job, namespace, field_selector=only, resource_version=version, timeout_seconds=90
):
    if condition(event["object"]) is not None:
        watching.stop()

done = api.read_namespaced_job_status(name, namespace)
api.delete_namespaced_job(name, namespace, propagation_policy="Foreground")
gone = False
for event in watching.stream(
    api.list_namespaced_job,
    namespace,
    field_selector=only,
    resource_version=done.metadata.resource_version,
    timeout_seconds=90,
):
    if event["type"] == "DELETED":
        gone = True
        watching.stop()

print(
    json.dumps(
        {
            "outcome": condition(done),
            "succeeded": done.status.succeeded,
            "failed": done.status.failed,
            "completedIndexes": done.status.completed_indexes,
            "hasTimes": done.status.start_time is not None,
            "gone": gone,
        }
    )
)

"""Runs execute_k8s_job of dagster-k8s with its defaults, as an op of a Dagster job does, and prints what became of it."""

import json
import os
import sys

from dagster import job, op
from dagster_k8s import execute_k8s_job

options = json.load(sys.stdin)


@op
def in_the_cluster(context):
    execute_k8s_job(
        context,
        image="none",
        namespace=sys.argv[1],
        load_incluster_config=False,
        kubeconfig_file=os.environ["KUBECONFIG"],
        timeout=120,
        **options,
    )


@job
def only_it():
    in_the_cluster()


result = only_it.execute_in_process(raise_on_error=False)
print(json.dumps({"success": result.success}))

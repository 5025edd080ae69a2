"""Runs tasks of Airflow's KubernetesJobOperator as they come, a line each, and prints what became of each after what it logged."""

import json
import sys
import time
from types import SimpleNamespace

from airflow.providers.cncf.kubernetes.operators.job import KubernetesJobOperator

namespace, run = sys.argv[1:3]


def execute(at, options):
    task = f"task-{at}"
    pushed = {}
    instance = SimpleNamespace(
        dag_id="dag",
        task_id=task,
        run_id=run,
        map_index=-1,
        try_number=1,
        xcom_push=lambda key, value, **_: pushed.__setitem__(key, value),
    )
    context = {"ti": instance, "task_instance": instance, "run_id": run, "dag": None}
    operator = KubernetesJobOperator(
        task_id=task, name=f"{run}-{task}", namespace=namespace, random_name_suffix=False, job_poll_interval=0.2, **options
    )
    started = time.monotonic()
    try:
        operator.execute(context)
        outcome = "success"
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    seconds = time.monotonic() - started
    return {"outcome": outcome, "pods": len(getattr(operator, "pods", None) or []), "seconds": seconds}


print(json.dumps({"outcome": "ready"}), flush=True)
for at, line in enumerate(sys.stdin):
    print(json.dumps(execute(at, json.loads(line))), flush=True)

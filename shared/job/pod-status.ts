/** What of a pod's status is shown elsewhere than on its own cluster. */
import type { ContainerStatus, PodStatus } from "./types.ts";

type Condition = NonNullable<PodStatus["conditions"]>[number];
type State = NonNullable<ContainerStatus["state"]>;

/**
 * The part of a status that means something on another cluster: no addresses, no QoS class, no fields of a newer Kubernetes. Two
 * statuses that show the same have the same picture, whether their server writes empty fields or leaves them out.
 */
export function picturedStatus(status: PodStatus = {}): PodStatus {
  const { conditions, containerStatuses, initContainerStatuses, ...rest } = status;
  return compact({
    ...pick(rest, ["phase", "reason", "message", "startTime"]),
    conditions: conditions?.map(picturedCondition),
    initContainerStatuses: initContainerStatuses?.map(picturedContainer),
    containerStatuses: containerStatuses?.map(picturedContainer),
  }) as PodStatus;
}

const picturedCondition = (condition: Condition): Condition =>
  compact(pick(condition, ["type", "status", "reason", "message", "lastTransitionTime"])) as Condition;

function picturedContainer(container: ContainerStatus): ContainerStatus {
  const texts = compact(pick(container, ["image", "imageID", "containerID", "started"]));
  return {
    ...texts,
    name: container.name,
    ready: container.ready ?? false,
    restartCount: container.restartCount,
    ...(container.state === undefined ? {} : { state: picturedState(container.state) }),
    ...(container.lastState === undefined || Object.keys(container.lastState).length === 0
      ? {}
      : { lastState: picturedState(container.lastState) }),
  };
}

function picturedState({ waiting, running, terminated }: State): State {
  return compact({
    waiting: waiting && compact(pick(waiting, ["reason", "message"])),
    running: running && compact(pick(running, ["startedAt"])),
    terminated:
      terminated &&
      ({
        exitCode: terminated.exitCode,
        ...compact(pick(terminated, ["signal", "reason", "message", "startedAt", "finishedAt", "containerID"])),
      } as NonNullable<State["terminated"]>),
  }) as State;
}

const pick = (object: object, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(fields.map((field) => [field, (object as Record<string, unknown>)[field]]));

/** Without what says nothing: absent, null, the empty text, the empty list. */
const compact = <T extends object>(object: T): T =>
  Object.fromEntries(
    Object.entries(object).filter(
      ([, value]) =>
        value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0),
    ),
  ) as T;

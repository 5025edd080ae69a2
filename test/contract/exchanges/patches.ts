import type { Scenario } from "../exchange.ts";
import { applyPatch, configMap, configMaps, jsonPatch, mergePatch, pod, pods, strategicPatch } from "../objects.ts";

export const patches: Scenario = {
  name: "patches",
  exchanges: [
    { name: "a config map", method: "POST", path: configMaps, body: configMap("one", { a: "1", b: "2" }) },
    {
      name: "merge: add, change, remove",
      method: "PATCH",
      path: `${configMaps}/one`,
      body: { metadata: { labels: { x: "y" } }, data: { a: "9", b: null, c: "3" } },
      headers: mergePatch,
    },
    {
      name: "json: every operation",
      method: "PATCH",
      path: `${configMaps}/one`,
      headers: jsonPatch,
      body: [
        { op: "test", path: "/data/a", value: "9" },
        { op: "add", path: "/data/d", value: "4" },
        { op: "replace", path: "/data/a", value: "1" },
        { op: "copy", from: "/data/a", path: "/data/e" },
        { op: "move", from: "/data/c", path: "/data/f" },
        { op: "remove", path: "/metadata/labels/x" },
        { op: "add", path: "/metadata/annotations", value: { "ex.org/a": "1" } },
      ],
    },
    {
      name: "json: escaped keys",
      method: "PATCH",
      path: `${configMaps}/one`,
      headers: jsonPatch,
      body: [{ op: "replace", path: "/metadata/annotations/ex.org~1a", value: "2" }],
    },
    {
      name: "a pod",
      method: "POST",
      path: pods,
      body: pod(
        "one",
        {
          containers: [
            { name: "a", image: "a:1" },
            { name: "b", image: "b:1" },
          ],
          tolerations: [{ key: "k", operator: "Exists" }],
        },
        { finalizers: ["ex.org/one", "ex.org/two"] },
      ),
    },
    {
      name: "strategic: one container of two",
      method: "PATCH",
      path: `${pods}/one`,
      headers: strategicPatch,
      body: { spec: { containers: [{ name: "b", image: "b:2" }] } },
    },
    {
      name: "strategic: one finalizer of two",
      method: "PATCH",
      path: `${pods}/one`,
      headers: strategicPatch,
      body: { metadata: { "$deleteFromPrimitiveList/finalizers": ["ex.org/one"] } },
    },
    {
      name: "strategic: finalizers add up",
      method: "PATCH",
      path: `${pods}/one`,
      headers: strategicPatch,
      body: { metadata: { finalizers: ["ex.org/three"] } },
    },
    {
      name: "merge: finalizers are replaced",
      method: "PATCH",
      path: `${pods}/one`,
      headers: mergePatch,
      body: { metadata: { finalizers: null } },
    },
    {
      name: "strategic: status conditions by type",
      method: "PATCH",
      path: `${pods}/one/status`,
      headers: strategicPatch,
      body: {
        status: {
          phase: "Running",
          conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
        },
      },
    },
    {
      name: "strategic: another condition",
      method: "PATCH",
      path: `${pods}/one/status`,
      headers: strategicPatch,
      body: {
        status: {
          conditions: [
            { type: "DisruptionTarget", status: "True", reason: "Test", lastTransitionTime: "2026-01-01T00:00:00Z" },
          ],
        },
      },
    },
    {
      name: "strategic: null removes",
      method: "PATCH",
      path: `${configMaps}/one`,
      headers: strategicPatch,
      body: { metadata: { annotations: null }, data: { d: null } },
    },
    {
      name: "apply creates",
      method: "PATCH",
      path: `${configMaps}/two?fieldManager=me`,
      headers: applyPatch,
      body: configMap("two", { a: "1", b: "2" }),
    },
    {
      name: "apply changes",
      method: "PATCH",
      path: `${configMaps}/two?fieldManager=me`,
      headers: applyPatch,
      body: configMap("two", { a: "1", b: "3" }),
    },
    { name: "the end of the pod", method: "DELETE", path: `${pods}/one?gracePeriodSeconds=0` },
    {
      name: "another config map",
      method: "POST",
      path: configMaps,
      body: { ...configMap("held"), metadata: { name: "held", finalizers: ["ex.org/one", "ex.org/two"] } },
    },
    {
      name: "json: positions from the end, and absent values",
      method: "PATCH",
      path: `${configMaps}/held`,
      headers: jsonPatch,
      body: [
        { op: "test", path: "/metadata/finalizers/-1", value: "ex.org/two" },
        { op: "remove", path: "/metadata/finalizers/-2" },
        { op: "test", path: "/metadata/annotations", value: null },
        { op: "test", path: "/metadata/annotations" },
      ],
    },
  ],
};

/**
 * A.11 of the scenarios: tools that know only the hub, with the rights of an ordinary user and manifests without a word of
 * Jobferry. The namespaces are labelled, so that their Jobs are dispatched.
 */
import { afterAll, beforeAll } from "vitest";
import { RealFleet } from "../dispatch/real-fleet.ts";
import { clientTests } from "./clients.ts";
import { cronJobTests } from "./cron-jobs.ts";
import { helmTests } from "./helm.ts";
import { kubectlTests } from "./kubectl.ts";
import { findTool } from "./tools.ts";

const python = await findTool("the Python client");
const fabric8 = await findTool("the Java client fabric8");
const helm = await findTool("Helm");

const fleet = new RealFleet();
beforeAll(() => fleet.start(), 300_000);
afterAll(() => fleet.stop());

kubectlTests(fleet);
cronJobTests(fleet);
clientTests(fleet, python, fabric8);
helmTests(fleet, helm);

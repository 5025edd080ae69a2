import { prepareRealNodes } from "./real-node.ts";

/** Installs and builds what nodes are made of before the first test starts its timeout. */
export default async function setup(): Promise<void> {
  await prepareRealNodes();
}

import { dirname, join } from "node:path";
import type { Plugin } from "esbuild";
import { root } from "./run.ts";

const isOfClient = /[/]@kubernetes[/]client-node[/]dist[/]/;

/**
 * Of client-node we need its KubeConfig alone, which asks credential plugins. The package does not say that its modules have no
 * side effects, so that all of its generated API (16 MB) would come along.
 */
export const leanClient: Plugin = {
  name: "lean-client",
  setup({ onResolve }) {
    const lean = (path: string) => ({ path, sideEffects: false });
    const config = join(root, "node_modules/@kubernetes/client-node/dist/config.js");
    onResolve({ filter: /^@kubernetes[/]client-node$/ }, () => lean(config));
    // Resolved by hand, its imports name files: asking esbuild back for each of hundreds can hang its build.
    onResolve({ filter: /^[.]{1,2}[/].*[.]js$/ }, ({ path, importer }) =>
      isOfClient.test(importer) ? lean(join(dirname(importer), path)) : undefined,
    );
  },
};

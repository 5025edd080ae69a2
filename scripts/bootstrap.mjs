// The first thing every npm script runs: installs the packages if they are not what the lockfile says, then goes on under
// the Node that came with them. Only old syntax and no dependencies: this file must at least explain itself on an old Node.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants, homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const oldestNode = 20;

function stop(sentence) {
  console.error(sentence);
  process.exit(1);
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (_error) {
    return undefined;
  }
}

/** npm keeps what it installed in a lockfile of its own; packages for other platforms are in ours only. */
function installedAsLocked() {
  const wanted = readJson(join(root, "package-lock.json"));
  const installed = readJson(join(root, "node_modules", ".package-lock.json"));
  if (wanted === undefined)
    stop("package-lock.json is missing or broken: restore it with `git checkout package-lock.json`.");
  if (installed === undefined) return false;
  return Object.keys(wanted.packages).every((path) => {
    const want = wanted.packages[path];
    const have = installed.packages[path];
    if (!path.startsWith("node_modules/") || want.link) return true;
    return have === undefined ? want.optional === true : have.version === want.version;
  });
}

function npm(args) {
  const own = process.env.npm_execpath;
  const all = args.concat(["--no-audit", "--no-fund", "--loglevel=error"]);
  const command = own === undefined ? ["npm", all] : [process.execPath, [own].concat(all)];
  const result = spawnSync(command[0], command[1], {
    cwd: root,
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
  });
  if (result.error !== undefined) stop(`npm cannot be started (${result.error.message}): install npm 10 or later.`);
  return result;
}

function install() {
  const started = Date.now();
  console.error("Installing npm packages as package-lock.json says ...");
  let result = npm(["ci"]);
  // A registry without the optional packages of other platforms yields a lockfile that `npm ci` calls incomplete;
  // this installs the same locked versions and leaves the lockfile alone.
  if (result.status !== 0 && result.stderr.includes("EUSAGE")) result = npm(["install", "--no-save"]);
  if (result.status !== 0) {
    const errors = result.stderr.split("\n").filter((line) => line.startsWith("npm error"));
    stop(`npm could not install: check the network and the registry set for npm.\n${errors.slice(0, 8).join("\n")}`);
  }
  if (!installedAsLocked())
    stop(
      "npm installed other versions than package-lock.json names: update the lockfile with `npm install` and commit it.",
    );
  console.error(`Installed npm packages in ${Math.round((Date.now() - started) / 1000)} s`);
}

function main() {
  const major = Number(process.versions.node.split(".")[0]);
  if (major < oldestNode)
    stop(
      `This is Node ${process.versions.node}; Jobferry needs Node ${oldestNode} or later to install itself (nodejs.org, or your package manager).`,
    );
  if (!installedAsLocked()) install();
  const node = join(root, "node_modules", "node", "bin", "node");
  if (!existsSync(node))
    stop(
      "The npm package `node` did not unpack: allow its install script (npm config set ignore-scripts false), delete node_modules, and try again.",
    );

  const caches = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const env = Object.assign({ NODE_COMPILE_CACHE: join(caches, "jobferry", "node-compile") }, process.env);
  env.PATH = `${join(root, "node_modules", ".bin")}:${env.PATH}`;
  const child = spawn(node, process.argv.slice(2), { cwd: root, env: env, stdio: "inherit" });
  // A terminal sends Ctrl-C to the child too; here it only must not end us first.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
}

main();
